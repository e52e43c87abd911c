/** Kernels bound to what they compute: the workload that attributes of a kernel describe. */
@NullMarked
package dev.warpwright.workload.kernel;

import org.jspecify.annotations.NullMarked;
