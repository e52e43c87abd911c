package dev.warpwright.cli.tuning;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.tune.TuningProgress;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Tells a waiting user where a search stands. */
final class TuningView {
  private final GemmWorkload workload;
  private final double limit;
  private final Progress progress;
  private int improvements;

  /**
   * A view.
   *
   * @param limit seconds that the search may take
   */
  TuningView(GemmWorkload workload, double limit, Progress progress) {
    this.workload = workload;
    this.limit = limit;
    this.progress = progress;
  }

  void show(TuningProgress now) {
    boolean better = now.curve().size() > improvements;
    improvements = now.curve().size();
    progress.status(line(now), better || now.trials() == now.wanted());
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
        Math.max(0, Math.min(rate > 0 ? left / rate : limit, limit - now.seconds())),
        failed.isEmpty() ? "" : " | " + failed);
  }

  /** What became of a search, in one line. */
  static String result(GemmWorkload workload, TuningProgress done) {
    return String.format(
        Locale.ROOT,
        "tuned %s: %s",
        workload.key(),
        done.best() == null
            ? "nothing could be measured"
            : String.format(
                Locale.ROOT,
                "%.2f us after %d trials and %.0f s",
                done.best().outcome().timeUs(),
                done.trials(),
                done.seconds()));
  }

  /** How many have no time, by reason: {@code 3 spill, 1 wrong}. */
  static String reasons(TuningProgress now) {
    List<String> reasons = new ArrayList<>();
    now.failures().forEach((reason, count) -> reasons.add(count + " " + reason.text()));
    return String.join(", ", reasons);
  }
}
