package dev.warpwright.cli.kernels;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.verify.CheckOptions;
import dev.warpwright.verify.CheckSubject;
import dev.warpwright.verify.GpuComparison;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Runs kernels in the simulator and on the GPU, and compares what they leave. */
final class CheckOnGpu {
  private CheckOnGpu() {}

  static Report report(CheckRequest request, Progress progress) {
    List<GpuComparison.Result> results = new ArrayList<>();
    CheckOptions options =
        CheckSubjects.isLadder(request)
            ? request.options().withScalars(Map.of())
            : request.options();
    List<CheckSubject> subjects = CheckSubjects.of(request);
    String device;
    try (Gpu gpu =
        Gpu.find().orElseThrow(() -> new DeviceError(Devices.whyNoGpu() + "; leave out --gpu"))) {
      device = gpu.name();
      for (CheckSubject subject : subjects) {
        progress.say("comparing " + subject.name());
        results.add(GpuComparison.compare(subject, options, gpu));
      }
    }
    boolean ok = results.stream().allMatch(GpuComparison.Result::ok);
    List<String> lines = new ArrayList<>();
    for (GpuComparison.Result result : results) {
      result.findings().forEach(finding -> lines.add(OneLine.of(finding.message())));
      for (GpuComparison.OfArray array : result.arrays()) {
        lines.add(
            OneLine.of(
                String.format(
                    Locale.ROOT,
                    "%s %s: %s",
                    result.subject(),
                    array.name(),
                    array.sameBits()
                        ? "bit-equal"
                        : String.format(
                            Locale.ROOT,
                            "%s, relative error %.1e, %.2f%% of %d elements bit-equal",
                            array.ok() ? "equal up to rounding" : "WRONG",
                            array.relError(),
                            100.0 * array.equal() / array.elements(),
                            array.elements()))));
      }
    }
    lines.add(
        String.format(
            Locale.ROOT,
            "simulated and run on %s, seed %d: %s",
            device,
            request.options().seed(),
            ok ? "the same" : "NOT THE SAME"));
    return new Report(
        ok,
        String.join(System.lineSeparator(), lines),
        Json.object()
            .with("file", request.file().toString())
            .with("device", device)
            .with("seed", request.options().seed())
            .with("ok", ok)
            .with("kernels", Json.array(results, CheckOnGpu::json)));
  }

  private static Json json(GpuComparison.Result result) {
    Json.Members scalars = Json.object();
    for (Map.Entry<String, Long> scalar : new TreeMap<>(result.scalars()).entrySet()) {
      scalars = scalars.with(scalar.getKey(), scalar.getValue());
    }
    return Json.object()
        .with("name", result.subject())
        .with("scalars", scalars)
        .with("ok", result.ok())
        .with("arrays", Json.array(result.arrays(), CheckOnGpu::json))
        .with("findings", Json.array(result.findings(), CheckAction::json));
  }

  private static Json json(GpuComparison.OfArray array) {
    return Json.object()
        .with("name", array.name())
        .with("sameBits", array.sameBits())
        .with("equal", array.equal())
        .with("elements", array.elements())
        .with("relError", array.relError())
        .with("maxAbsError", array.maxAbsError())
        .with("tolerance", array.tolerance())
        .with("ok", array.ok());
  }
}
