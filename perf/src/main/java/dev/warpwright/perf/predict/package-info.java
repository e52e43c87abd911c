/** What is expected of a kernel before anything runs. */
package dev.warpwright.perf.predict;
