/** {@code tune}, {@code perf} and {@code db}: searching for kernels and measuring them. */
@NullMarked
package dev.warpwright.cli.tuning;

import org.jspecify.annotations.NullMarked;
