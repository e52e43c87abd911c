/** Rows carried through all layers in shared memory of a block, or in the cache of a core. */
@NullMarked
package dev.warpwright.networks.rows;

import org.jspecify.annotations.NullMarked;
