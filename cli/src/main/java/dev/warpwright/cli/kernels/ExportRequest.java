package dev.warpwright.cli.kernels;

import dev.warpwright.cli.devices.TargetName;
import java.nio.file.Path;
import java.util.Map;

/**
 * What to export.
 *
 * @param what {@code ladder:RUNG} or a file of one kernel
 * @param values of M, N, K, and of the kernel's scalars, by name
 * @param folder made if it is not there
 */
record ExportRequest(String what, Map<String, Long> values, Path folder, TargetName target) {
  ExportRequest {
    values = Map.copyOf(values);
  }
}
