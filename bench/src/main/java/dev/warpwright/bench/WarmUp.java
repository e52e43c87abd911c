package dev.warpwright.bench;

import dev.warpwright.compiler.CpuDevice;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * From the first call on, in a process of its own: how long until the calls run at 90 % of their
 * final speed. Prints the milliseconds of loading and compiling, those of the first call, the
 * microseconds of a call in the end, and the seconds until then. Arguments: {@code models}, {@code
 * name} of a model, or {@code mlp} or {@code gemm}, {@code rows} (for {@code gemm} the size),
 * {@code seconds}, {@code prepared} (true: after {@link
 * dev.warpwright.compiler.CompiledModel#prepare}).
 *
 * <p>Time is cut into windows; the answer is the beginning of the first one that is as fast as 90 %
 * of the last quarter of all (their median), with the median of those that follow it.
 */
public final class WarmUp {
  private static final double WINDOW_SECONDS = 0.05;
  private static final double WANTED = 0.9;

  /** Windows over which the rate must stay, in the median: neighbours slow down a few. */
  private static final int HELD = 9;

  private WarmUp() {}

  public static void main(String[] args) {
    Arguments.guard(() -> run(args));
  }

  private static void run(String[] args) {
    Arguments arguments =
        new Arguments(args, "models", "name", "rows", "seconds", "prepared", "trace");
    String name = arguments.text("name", "gemm");
    int rows = arguments.number("rows", 1024);
    double seconds = arguments.number("seconds", 4);
    try (CpuDevice device = new CpuDevice()) {
      long created = System.nanoTime();
      Implementation ours =
          ours(
              device,
              Path.of(arguments.text("models", "models")),
              name,
              rows,
              arguments.text("prepared", "false").equals("true"));
      double compiling = since(created);
      int windows = (int) (seconds / WINDOW_SECONDS);
      double[] rates = new double[windows];
      double[] ends = new double[windows];
      long start = System.nanoTime();
      ours.call().run();
      double first = since(start);
      double begin = 0;
      long calls = 1;
      for (int w = 0; w < windows; w++) {
        double now;
        do {
          ours.call().run();
          calls++;
          now = since(start);
        } while (now < begin + WINDOW_SECONDS);
        rates[w] = calls / (now - begin);
        ends[w] = now;
        begin = now;
        calls = 0;
      }
      double[] last = Arrays.copyOfRange(rates, windows * 3 / 4, windows);
      Arrays.sort(last);
      double rate = last[last.length / 2];
      double until = Double.NaN;
      for (int w = 0; w + HELD <= windows && Double.isNaN(until); w++) {
        double[] next = Arrays.copyOfRange(rates, w, w + HELD);
        Arrays.sort(next);
        if (rates[w] >= WANTED * rate && next[HELD / 2] >= WANTED * rate) {
          until = w == 0 ? first : ends[w - 1];
        }
      }
      System.out.printf(
          Locale.ROOT, "%.0f %.0f %.2f %.2f%n", compiling * 1e3, first * 1e3, 1e6 / rate, until);
      if (arguments.text("trace", "false").equals("true")) {
        for (int w = 0; w < windows; w++) {
          System.out.printf(Locale.ROOT, "  %.2f s: %.1f %%%n", ends[w], 100 * rates[w] / rate);
        }
      }
    }
  }

  private static Implementation ours(
      CpuDevice device, Path models, String name, int rows, boolean prepared) {
    return switch (name) {
      case "gemm" -> Matmuls.ours(device, rows);
      case "mlp" -> new Networks(device, 1).ownMlp(rows, prepared);
      default -> new Networks(device, 1).ownModel(models, name, rows, prepared);
    };
  }

  private static double since(long start) {
    return (System.nanoTime() - start) / 1e9;
  }
}
