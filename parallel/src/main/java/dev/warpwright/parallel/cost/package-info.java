/**
 * What communication between devices costs, and which way to use them is expected to be fastest.
 */
@NullMarked
package dev.warpwright.parallel.cost;

import org.jspecify.annotations.NullMarked;
