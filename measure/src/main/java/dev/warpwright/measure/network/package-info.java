/**
 * Measures whole networks on a GPU: several programs of one network on the same inputs, each
 * verified over its whole output before and after it is timed, in bursts and without rest, in turn.
 *
 * <p>What a network should compute is given for some distinct rows; the inputs of a launch are
 * those rows in an order drawn by a seed, so that every row of the output has something to be
 * compared with and no row can stand for its neighbour.
 */
package dev.warpwright.measure.network;
