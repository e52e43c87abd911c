/**
 * Kernels of plain threads and block barriers as bytecode: a loop over the threads between two
 * barriers.
 */
package dev.warpwright.sim.region;
