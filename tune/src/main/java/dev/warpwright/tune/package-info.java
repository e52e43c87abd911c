/**
 * Tuning: finds the fastest kernel for a workload by trying candidates of a {@linkplain
 * dev.warpwright.space.Space space}. {@link dev.warpwright.tune.Tuner} is the loop; what is tried
 * is decided by a {@linkplain dev.warpwright.tune.search.Strategy strategy}, measured by a
 * {@linkplain dev.warpwright.tune.measure.Measurer measurer} and kept in a {@linkplain
 * dev.warpwright.space.record.TuningDatabase database}, from which an interrupted search goes on.
 */
@NullMarked
package dev.warpwright.tune;

import org.jspecify.annotations.NullMarked;
