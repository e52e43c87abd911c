/**
 * Kernels of plain threads and block barriers as bytecode: a loop over the threads between two
 * barriers.
 */
@NullMarked
package dev.warpwright.sim.region;

import org.jspecify.annotations.NullMarked;
