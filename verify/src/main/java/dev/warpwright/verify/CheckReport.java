package dev.warpwright.verify;

import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.sim.api.Finding;
import java.util.List;
import java.util.Map;

/**
 * What a check has found.
 *
 * @param subject what was checked
 * @param kernels the kernels that ran
 * @param scalars the values of the scalar parameters
 * @param schedules in how many orders of blocks and warps
 * @param launches how often in a row in each order
 * @param comparedWith the workload whose results those are compared with; empty for none
 * @param findings everything found, each once
 * @param expected on a GPU: by the model, and at least; nothing for what does not say its job
 */
public record CheckReport(
    String subject,
    List<String> kernels,
    Map<String, Long> scalars,
    int schedules,
    int launches,
    String comparedWith,
    List<Finding> findings,
    OnDevice expected) {
  /**
   * A prediction and its device.
   *
   * @param device its name; empty if nothing is predicted
   */
  public record OnDevice(String device, Prediction prediction) {
    static final OnDevice NONE = new OnDevice("", Prediction.NONE);
  }

  public CheckReport {
    kernels = List.copyOf(kernels);
    scalars = Map.copyOf(scalars);
    findings = List.copyOf(findings);
  }
}
