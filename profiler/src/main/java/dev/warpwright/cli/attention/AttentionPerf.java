package dev.warpwright.cli.attention;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.output.Figure;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionModel;
import dev.warpwright.measure.attention.AttentionBench;
import dev.warpwright.measure.attention.AttentionBench.Outcome;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Times attention on this machine's GPU, verified before and after: one configuration ({@code
 * perf}), or those that are expected to be the fastest, in turn ({@code tune}). Torch's times of
 * the same attention come from {@code bench/attention.sh}.
 */
public final class AttentionPerf {
  /** Configurations that a search times, if not said. */
  private static final int TRIALS = 24;

  private static final int MOST_TRIALS = 200;

  private AttentionPerf() {}

  /**
   * What is to be timed.
   *
   * @param trials configurations of a search
   * @param seed of the random data
   */
  public record Search(AttentionTask task, int trials, long seed) {
    /**
     * Reads {@code HQ=32 HKV=8 D=128 S=4096 t=24 seed=1}.
     *
     * @throws dev.warpwright.base.UserError if it is none
     */
    public static Search of(List<String> arguments) {
      KeyValues values = new KeyValues(arguments);
      int trials = (int) values.number("t", 1, MOST_TRIALS, TRIALS);
      long seed = values.number("seed", 0, Long.MAX_VALUE, 1);
      AttentionTask task = AttentionTask.of(values);
      AttentionBench.requireSmall(task.attention());
      return new Search(task, trials, seed);
    }
  }

  /**
   * Times the configuration asked for, or the one that is expected to be the fastest.
   *
   * @throws DeviceError if there is no GPU
   */
  public static Report perf(Search search, int rounds, Progress progress) {
    return measure(search.task(), 1, search.seed(), rounds, progress);
  }

  /** Times as many configurations as there are trials, those of which most is expected. */
  public static Report tune(Search search, int rounds, Progress progress) {
    return measure(search.task(), search.trials(), search.seed(), rounds, progress);
  }

  private static Report measure(
      AttentionTask task, int trials, long seed, int rounds, Progress progress) {
    try (Gpu gpu =
        Gpu.find()
            .orElseThrow(
                () -> new DeviceError(Devices.whyNoGpu() + "; tune and perf measure on a GPU"))) {
      GpuTarget target = (GpuTarget) gpu.target();
      DeviceModel device =
          DeviceCatalogue.find(gpu.name()).orElseGet(() -> AttentionTask.device(target));
      List<AttentionConfig> configs = configs(task, trials, device);
      List<Outcome> outcomes =
          AttentionBench.run(task.attention(), configs, gpu, seed, rounds, progress::say);
      return report(task.attention(), outcomes, device, gpu.name(), seed);
    }
  }

  /** The one asked for first, then what is expected to be the fastest. */
  static List<AttentionConfig> configs(AttentionTask task, int trials, DeviceModel device) {
    List<AttentionConfig> configs = new ArrayList<>();
    if (task.config() != null) {
      configs.add(task.config());
    }
    for (AttentionModel.Expected expected : AttentionModel.ranked(task.attention(), device)) {
      if (configs.size() < trials && !configs.contains(expected.config())) {
        configs.add(expected.config());
      }
    }
    return configs;
  }

  /** What came out, the fastest first. */
  static Report report(
      Attention attention, List<Outcome> outcomes, DeviceModel device, String gpu, long seed) {
    List<Outcome> sorted =
        outcomes.stream().sorted(Comparator.comparingDouble(Outcome::micros)).toList();
    Outcome best = sorted.getFirst();
    double bound =
        Math.max(
            attention.bytes() / (device.dramGBs() * 1e3),
            attention.flops() / (attention.precision().peak(device) * 1e-6));
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%s on %s, bound %s us (seed %d)",
            attention.text(),
            gpu,
            Figure.number(bound),
            seed));
    sorted.forEach(outcome -> lines.add(line(attention, outcome, device)));
    boolean verified = best.times() != null;
    Json.Members json =
        json(attention, best, device)
            .with("workload", attention.key().text())
            .with("text", attention.text())
            .with("target", gpu)
            .with("leastUs", bound)
            .with("verified", verified)
            .with("seed", seed)
            .with("trials", outcomes.size())
            .with("configurations", Json.array(sorted, each -> json(attention, each, device)));
    return new Report(verified, String.join(System.lineSeparator(), lines), json);
  }

  private static double expected(Attention attention, Outcome outcome, DeviceModel device) {
    return AttentionModel.predict(attention, outcome.config(), device).micros();
  }

  private static String line(Attention attention, Outcome outcome, DeviceModel device) {
    String figures =
        outcome.failure() != null
            ? outcome.failure()
            : String.format(
                Locale.ROOT,
                "%s us (%s expected), %.0f GB/s, %.1f TFLOP/s, relative error %.2e, verified",
                Figure.number(outcome.micros()),
                Figure.number(expected(attention, outcome, device)),
                attention.bytes() / outcome.micros() * 1e-3,
                attention.flops() / outcome.micros() * 1e-6,
                outcome.relError());
    return String.format(Locale.ROOT, "  %-50s %s", outcome.config().text(), figures);
  }

  private static Json.Members json(Attention attention, Outcome outcome, DeviceModel device) {
    Json.Members json =
        Json.object()
            .with("config", outcome.config().text())
            .with("predictedUs", expected(attention, outcome, device))
            .with("relError", outcome.relError());
    return outcome.times() == null
        ? json.with("failure", String.valueOf(outcome.failure()))
        : json.with("timeUs", outcome.micros())
            .with("launchUs", outcome.times().launchUs())
            .with("gbps", attention.bytes() / outcome.micros() * 1e-3)
            .with("tflops", attention.flops() / outcome.micros() * 1e-6);
  }
}
