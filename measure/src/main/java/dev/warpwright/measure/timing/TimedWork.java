package dev.warpwright.measure.timing;

import java.util.function.IntConsumer;

/**
 * Something that computes a workload.
 *
 * @param enqueue gives the work on a set to the stream, without waiting
 */
public record TimedWork(String name, IntConsumer enqueue) {}
