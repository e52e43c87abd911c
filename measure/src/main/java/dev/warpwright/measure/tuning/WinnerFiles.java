package dev.warpwright.measure.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.schedule.trace.ScheduleText;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.TuningProgress;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.WorkloadKey;
import dev.warpwright.workload.kernel.BoundKernel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The folder that a tuned workload leaves: the winner at every level, and how it was found. */
public final class WinnerFiles {
  private WinnerFiles() {}

  /** A folder's name for a workload on a target, of letters that every file system takes. */
  public static String folderName(WorkloadKey key, GpuTarget target) {
    return (key.text() + " " + target.name()).replaceAll("[^A-Za-z0-9.]+", "-");
  }

  /**
   * Makes the folder if it is not there.
   *
   * @throws UserError if that is not possible
   */
  public static void makeFolder(Path folder) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UserError("cannot write to " + folder + ": " + e.getMessage());
    }
  }

  /**
   * Writes what is computed ({@code computation.txt}), how it is scheduled ({@code schedule.txt},
   * {@code trace.json}), the program that the schedule makes of it ({@code tiles.txt}), what that
   * is lowered to ({@code kernel.kernel}) and printed as ({@code kernel.cu}), the decisions behind
   * it ({@code decisions.txt}), what was tried ({@code tuning.csv}) and {@code report.md}.
   *
   * @param records what was tried, oldest first
   * @throws UserError if that is not possible
   */
  public static void write(
      Path folder,
      GemmWorkload workload,
      Environment environment,
      int sms,
      TuningProgress done,
      List<TuningRecord> records,
      KernelReport report) {
    TuningProgress.Best best = done.best();
    if (best == null) {
      throw new IllegalArgumentException("nothing was measured");
    }
    Kernel kernel = best.candidate().kernel().get();
    GpuTarget target = GpuTarget.find(environment.target()).orElseThrow();
    ScheduledGemm scheduled = GemmSpace.schedule(workload, target, sms, best.candidate().point());
    Kernel bound = BoundKernel.of(kernel, best.candidate().values()).kernel();
    Map<String, String> texts = new LinkedHashMap<>();
    texts.put("computation.txt", IrPrinter.text(scheduled.func()));
    texts.put("schedule.txt", ScheduleText.of(scheduled.trace()));
    texts.put("trace.json", scheduled.trace().toJson());
    texts.put("tiles.txt", IrPrinter.text(scheduled.tiles()));
    texts.put("kernel.kernel", IrPrinter.text(kernel));
    texts.put("kernel.cu", CudaPrinter.print(bound, target));
    texts.put("decisions.txt", best.candidate().point().text() + "\n");
    texts.put("tuning.csv", csv(records));
    texts.put("report.md", report(workload, environment, done, report));
    Map<String, byte[]> files = new LinkedHashMap<>();
    texts.forEach((name, text) -> files.put(name, text.getBytes(StandardCharsets.UTF_8)));
    AtomicFile.writeAll(folder, files);
  }

  private static String csv(List<TuningRecord> records) {
    List<String> lines =
        new ArrayList<>(List.of("trial,at,time_us,best_us,rel_error,failure,decisions"));
    double best = Double.POSITIVE_INFINITY;
    for (TuningRecord record : records) {
      String trial = lines.size() + "," + record.at() + ",";
      switch (record.outcome()) {
        case Outcome.Measured measured -> {
          best = Math.min(best, measured.timeUs());
          trial +=
              String.format(
                  Locale.ROOT, "%.3f,%.3f,%.3e,", measured.timeUs(), best, measured.relError());
        }
        case Outcome.Failed failed -> trial += ",,," + failed.reason().text();
      }
      lines.add(trial + "," + record.point());
    }
    return String.join("\n", lines) + "\n";
  }

  private static String report(
      GemmWorkload workload, Environment environment, TuningProgress done, KernelReport report) {
    List<String> lines = new ArrayList<>();
    lines.add("# " + workload.key());
    lines.add("");
    lines.add(
        String.format(
            Locale.ROOT,
            "%s, driver %s, %s, Warpwright %s",
            environment.device(),
            environment.driver(),
            environment.toolkit(),
            environment.generator()));
    lines.add("");
    if (report.timing() == null) {
      lines.add("Not verified: " + report.failure());
    } else {
      lines.add("| | us in a graph | TFLOP/s | its time by ours |");
      lines.add("|---|---|---|---|");
      double ours = report.timing().times().graphUs();
      lines.add(row("this kernel", ours, report.timing().tflops(), ""));
      for (KernelReport.Baseline baseline : report.baselines()) {
        double its = baseline.times().graphUs();
        lines.add(
            row(
                baseline.name(),
                its,
                report.timing().tflops() * ours / its,
                String.format(Locale.ROOT, "%.3f", baseline.ratio())));
      }
      lines.add("");
      lines.add(
          String.format(
              Locale.ROOT,
              "Verified: relative error %.2e, at most %.0e.",
              report.relError(),
              report.tolerance()));
    }
    lines.add("");
    lines.add(
        String.format(
            Locale.ROOT,
            "Found in %d trials. Without a time: %s. Rejected before: %s.",
            done.trials(),
            done.failures(),
            done.rejections()));
    return String.join("\n", lines) + "\n";
  }

  private static String row(String name, double us, double tflops, String ratio) {
    return String.format(Locale.ROOT, "| %s | %.2f | %.1f | %s |", name, us, tflops, ratio);
  }
}
