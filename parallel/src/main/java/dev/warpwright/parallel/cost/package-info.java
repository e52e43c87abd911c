/**
 * What communication between devices costs, and which way to use them is expected to be fastest.
 */
package dev.warpwright.parallel.cost;
