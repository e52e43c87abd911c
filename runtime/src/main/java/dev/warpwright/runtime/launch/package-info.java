/** Launches of kernels on a GPU: grid, arguments and tensor maps from the IR. */
@NullMarked
package dev.warpwright.runtime.launch;

import org.jspecify.annotations.NullMarked;
