/** Times that the analytic model expects, and that no kernel for the same job can beat. */
@NullMarked
package dev.warpwright.compiler.predict;

import org.jspecify.annotations.NullMarked;
