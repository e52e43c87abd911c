/** Rows carried through all layers in shared memory of a block, or in the cache of a core. */
package dev.warpwright.networks.rows;
