/**
 * Tile statements as code of threads: copies, maps, products and sums, and what they share. Who
 * calls them, and in which order, says {@code dev.warpwright.lower.flow.Lowering}.
 */
package dev.warpwright.lower.gpu;
