/** Times that the analytic model expects, and that no kernel for the same job can beat. */
package dev.warpwright.compiler.predict;
