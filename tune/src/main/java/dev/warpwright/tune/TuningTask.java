package dev.warpwright.tune;

import dev.warpwright.tune.record.Environment;
import dev.warpwright.tune.record.WorkloadKey;
import dev.warpwright.tune.space.Space;

/** What to tune for, where, and what there is to choose from. */
public record TuningTask(WorkloadKey workload, Environment environment, Space space) {}
