/** {@code tune}, {@code perf} and {@code db}: searching for kernels and measuring them. */
package dev.warpwright.cli.tuning;
