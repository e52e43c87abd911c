/**
 * Orders of tiles and what they cost: the blocks that a matmul's tiles, or those of two chained
 * matmuls, load through a cache of limited capacity.
 *
 * <p>A {@link dev.warpwright.perf.order.TileProblem} says which blocks each tile uses. {@link
 * dev.warpwright.perf.order.OrderSimulation} plays an order against a cache, {@link
 * dev.warpwright.perf.order.OrderSearch} finds the order with the least loads and proves it where
 * the problem is small.
 *
 * <p>The model of a cache, stated once: a <em>step</em> computes one tile, or as many as run at a
 * time. It uses blocks in <em>moments</em>, one for each block along K: a moment's blocks, one of
 * each operand for each tile, must be in the cache together, so none of them is evicted for another
 * one of the same moment. A block that is not there is loaded; if there is no room, the policy
 * names the victims among the blocks that the moment does not use. Sums stay in registers: a result
 * is written once, after the last moment. It goes past the cache, unless the problem says that
 * results are cached: then it needs no load, is written back when it is evicted, and what is left
 * is written back at the end.
 *
 * <p>Where the K of a second matmul is split, an item of it reads the blocks of its part alone. The
 * first part of a tile of E to come writes it; each other one reads the partial sum back and writes
 * it again. In a cache that is one access: a hit if the tile is there, else a load; what was
 * evicted before is a store more. Past the cache each is a load and a store, and takes no room.
 */
package dev.warpwright.perf.order;
