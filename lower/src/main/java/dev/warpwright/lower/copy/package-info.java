/** Copies of operands' tiles from global memory by the threads of a block. */
package dev.warpwright.lower.copy;
