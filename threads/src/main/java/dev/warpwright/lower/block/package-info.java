/**
 * Blocks whose threads all go from tile to tile in shared memory: where buffers lie, where barriers
 * stand, and what becomes of their products and reductions.
 */
package dev.warpwright.lower.block;
