/**
 * How launches are timed: in turn with others, as graphs, and what is said about a series of times.
 */
package dev.warpwright.measure.timing;
