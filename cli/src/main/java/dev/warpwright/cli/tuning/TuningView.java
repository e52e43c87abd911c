package dev.warpwright.cli.tuning;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.families.GemmWorkload;
import dev.warpwright.tune.TuningProgress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Tells a waiting user where a search stands: each improvement, and every few seconds. */
final class TuningView {
  private static final double EVERY = 5;

  private final GemmWorkload workload;
  private final Progress progress;
  private double last = -EVERY;
  private int improvements;

  TuningView(GemmWorkload workload, Progress progress) {
    this.workload = workload;
    this.progress = progress;
  }

  void show(TuningProgress now) {
    boolean better = now.curve().size() > improvements;
    if (better || now.seconds() - last >= EVERY) {
      improvements = now.curve().size();
      last = now.seconds();
      progress.say(line(now));
    }
  }

  private String line(TuningProgress now) {
    double rate = (now.trials() - now.resumed()) / Math.max(now.seconds(), 1e-3);
    int left = now.wanted() - now.trials();
    String best =
        now.best() == null
            ? "nothing measured yet"
            : String.format(
                Locale.ROOT,
                "best %8.2f us %7.1f TFLOP/s",
                now.best().outcome().timeUs(),
                workload.flops() / now.best().outcome().timeUs() * 1e-6);
    String failed = reasons(now);
    return String.format(
        Locale.ROOT,
        "%s | %d of %d trials, %.1f/s, %.0f s left%s",
        best,
        now.trials(),
        now.wanted(),
        rate,
        rate > 0 ? left / rate : 0,
        failed.isEmpty() ? "" : " | " + failed);
  }

  /** How many have no time, by reason: {@code 3 spill, 1 wrong}. */
  static String reasons(TuningProgress now) {
    List<String> reasons = new ArrayList<>();
    now.failures().forEach((reason, count) -> reasons.add(count + " " + reason.text()));
    return String.join(", ", reasons);
  }
}
