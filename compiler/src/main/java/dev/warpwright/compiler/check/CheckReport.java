package dev.warpwright.compiler.check;

import dev.warpwright.sim.Finding;
import java.util.List;
import java.util.Map;

/**
 * What a check has found.
 *
 * @param subject what was checked
 * @param kernels the kernels that ran
 * @param scalars the values of the scalar parameters
 * @param schedules in how many orders of blocks and warps
 * @param findings everything found, each once
 */
public record CheckReport(
    String subject,
    List<String> kernels,
    Map<String, Long> scalars,
    int schedules,
    List<Finding> findings) {
  public CheckReport {
    kernels = List.copyOf(kernels);
    scalars = Map.copyOf(scalars);
    findings = List.copyOf(findings);
  }

  public boolean clean() {
    return findings.isEmpty();
  }
}
