package dev.warpwright.bench;

import dev.warpwright.compiler.CpuDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * The steady state. Arguments {@code KEY=VALUE}: {@code models} (the folder), {@code only} (a part
 * of a workload's name), {@code rounds}, {@code warm} (milliseconds), {@code json} (true).
 *
 * <p>A ratio is a peer's time over ours in the same process; above 1 we are faster. Exit code 1 if
 * a result was wrong.
 */
public final class CpuBench {
  private static final int[] MODEL_ROWS = {1, 64, 1024};
  private static final int[] MLP_ROWS = {1, 16, 256};
  private static final int[] SIZES = {512, 1024, 2048};

  private record Case(String name, Supplier<Workload> workload) {}

  private CpuBench() {}

  public static void main(String[] args) {
    Arguments.guard(() -> run(args));
  }

  private static void run(String[] args) {
    Arguments arguments = new Arguments(args, "models", "only", "rounds", "pause", "warm", "json");
    Path models = Path.of(arguments.text("models", "models"));
    String only = arguments.text("only", "");
    InterleavedTimer timer =
        new InterleavedTimer(
            arguments.number("rounds", 15),
            arguments.number("pause", 40),
            arguments.number("warm", 1500) * 1_000_000L);
    Report report = new Report(arguments.text("json", "false").equals("true"));
    boolean right = true;
    try (CpuDevice device = new CpuDevice()) {
      int threads = Runtime.getRuntime().availableProcessors();
      System.err.printf(
          Locale.ROOT, "%s, Java %s%n", device.name(), System.getProperty("java.version"));
      report.header();
      for (Case each : cases(device, threads, models)) {
        if (each.name().contains(only)) {
          try (Workload workload = each.workload().get()) {
            right &= measure(workload, timer, report);
          }
        }
      }
    }
    report.summary();
    if (!right) {
      System.exit(1);
    }
  }

  private static List<Case> cases(CpuDevice device, int threads, Path models) {
    Networks networks = new Networks(device, threads);
    List<Case> cases = new ArrayList<>();
    for (String model : Networks.PUBLIC) {
      for (int rows : MODEL_ROWS) {
        cases.add(new Case(model + ", batch " + rows, () -> networks.model(models, model, rows)));
      }
    }
    for (int rows : MLP_ROWS) {
      cases.add(new Case("mlp, batch " + rows, () -> networks.mlp(rows)));
    }
    for (int size : SIZES) {
      cases.add(new Case("gemm " + size, () -> Matmuls.square(device, threads, size)));
    }
    return cases;
  }

  /** Verifies everybody, then times everybody; false if ours was wrong. */
  private static boolean measure(Workload workload, InterleavedTimer timer, Report report) {
    List<Implementation> implementations = workload.implementations();
    List<Double> errors = new ArrayList<>();
    for (Implementation implementation : implementations) {
      double error = implementation.error();
      errors.add(error);
      if (!(error <= implementation.tolerance())) {
        System.out.printf(
            Locale.ROOT,
            "%s: %s is wrong, relative error %.2e, not timed%n",
            workload.name(),
            implementation.name(),
            error);
        return false;
      }
    }
    List<InterleavedTimer.Time> times = timer.measure(implementations);
    double ours = times.getFirst().micros();
    double best = Double.POSITIVE_INFINITY;
    for (int c = 0; c < implementations.size(); c++) {
      report.line(workload, c, errors.get(c), times.get(c), ours);
      if (c > 0) {
        best = Math.min(best, times.get(c).micros());
      }
    }
    report.count(workload.group(), best / ours);
    // What ran while it was timed must have been right too.
    for (Implementation implementation : implementations) {
      if (!(implementation.error() <= implementation.tolerance())) {
        System.out.printf(
            Locale.ROOT, "%s: %s is wrong after timing%n", workload.name(), implementation.name());
        return false;
      }
    }
    return true;
  }
}
