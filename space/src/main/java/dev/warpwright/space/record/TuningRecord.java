package dev.warpwright.space.record;

import dev.warpwright.space.Point;
import dev.warpwright.workload.WorkloadKey;
import java.time.Instant;

/**
 * A candidate that was tried.
 *
 * @param workload what is computed
 * @param environment where it was tried
 * @param point the decisions it came from
 * @param sourceHash SHA-256 of the printed kernel in hexadecimal; empty if it was not printed
 * @param outcome what became of it
 * @param at when
 */
public record TuningRecord(
    WorkloadKey workload,
    Environment environment,
    Point point,
    String sourceHash,
    Outcome outcome,
    Instant at) {}
