package dev.warpwright.tune;

import dev.warpwright.space.Space;
import dev.warpwright.space.record.Environment;
import dev.warpwright.workload.WorkloadKey;

/**
 * What to tune for, where, and what there is to choose from.
 *
 * @param workload what is computed
 * @param environment the device, its driver, and what generates
 * @param space what there is to choose from
 */
public record TuningTask(WorkloadKey workload, Environment environment, Space space) {}
