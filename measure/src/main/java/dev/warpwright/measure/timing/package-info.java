/**
 * How launches are timed: in turn with others, as graphs, and what is said about a series of times.
 */
@NullMarked
package dev.warpwright.measure.timing;

import org.jspecify.annotations.NullMarked;
