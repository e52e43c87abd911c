package dev.warpwright.measure;

import java.util.function.IntConsumer;

/**
 * Something that computes a workload.
 *
 * @param enqueue gives the work on a set to the stream, without waiting
 */
record Contestant(String name, IntConsumer enqueue) {}
