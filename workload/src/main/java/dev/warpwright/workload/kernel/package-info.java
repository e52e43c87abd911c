/** Kernels bound to what they compute: the workload that attributes of a kernel describe. */
package dev.warpwright.workload.kernel;
