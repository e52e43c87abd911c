/**
 * The classic ladder of optimisations of a matrix product, each rung a short schedule over one and
 * the same function. {@link dev.warpwright.examples.ladder.Ladder} lists the rungs; docs/ladder.md
 * tells what each changes, and what it buys.
 */
package dev.warpwright.examples.ladder;
