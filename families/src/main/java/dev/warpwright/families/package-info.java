/**
 * Families of kernels: a computation, a configuration, and the schedule that makes a kernel of the
 * two. A {@link dev.warpwright.workload.GemmWorkload} says what a product computes; {@link
 * dev.warpwright.families.wgmma.HopperGemm} schedules it for Hopper as a {@link
 * dev.warpwright.families.wgmma.HopperConfig} says. A configuration that does not fit is refused by
 * a line that says why, before anything is compiled.
 */
package dev.warpwright.families;
