/** Copies of operands' tiles from global memory by the threads of a block. */
@NullMarked
package dev.warpwright.lower.copy;

import org.jspecify.annotations.NullMarked;
