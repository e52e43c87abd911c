package dev.warpwright.cli.accept;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.tuning.PerfCommand;
import dev.warpwright.cli.tuning.TaskFile;
import dev.warpwright.workload.GemmWorkload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A figure: ratios of several products, and what they must reach. In a file it begins with a line
 * {@code figure name=bf16-nt of=baseline mean=1.0 least=0.9}, and the lines behind it are its
 * products, {@code gemm MNK=4096}. With {@code draw=40 dtype=bf16,f16 layout=nt,nn} its products
 * are drawn by the seed of the run, and nobody's records are used.
 *
 * @param of what is divided by what
 * @param isUntuned whether our kernel is the analytic model's choice
 */
record AcceptanceFigure(
    String name, Ratio of, boolean isUntuned, Musts must, List<GemmWorkload> workloads) {
  /**
   * What is asked, 0 for nothing.
   *
   * @param mean what the geometric mean must reach
   * @param least what each ratio must reach
   * @param p5 what 95 of 100 ratios must reach
   * @param expected what share of the kernels must take within 15 % of what the model expects
   */
  record Musts(double mean, double least, double p5, double expected) {}

  /** What is divided by what. */
  enum Ratio {
    /** The time of the fastest baseline by ours. */
    BASELINE,
    /** The time of the tuned kernel by that of the analytic model's choice. */
    UNTUNED
  }

  private static final int MOST_DRAWN = 10_000;

  AcceptanceFigure {
    workloads = List.copyOf(workloads);
  }

  /**
   * Reads a file.
   *
   * @param seed of what is drawn
   * @throws UserError if it is none, with its line
   */
  static List<AcceptanceFigure> read(Path file, long seed) {
    List<AcceptanceFigure> figures = new ArrayList<>();
    List<GemmWorkload> workloads = new ArrayList<>();
    for (TaskFile.Task task : TaskFile.read(file)) {
      try {
        if (task.what().equals("figure")) {
          figures.add(figure(task, seed));
          workloads = new ArrayList<>(figures.getLast().workloads);
        } else if (figures.isEmpty()) {
          throw new UserError("a GEMM before the first figure; begin with 'figure name=...'");
        } else {
          AcceptanceFigure last = figures.removeLast();
          workloads.add(PerfCommand.workload(task));
          figures.add(
              new AcceptanceFigure(last.name, last.of, last.isUntuned, last.must, workloads));
        }
      } catch (UserError e) {
        throw TaskFile.located(task, e);
      }
    }
    return List.copyOf(figures);
  }

  private static AcceptanceFigure figure(TaskFile.Task task, long seed) {
    KeyValues values = new KeyValues(task.arguments());
    String name = values.text("name");
    if (name == null) {
      throw new UserError("a figure without a name; write name=...");
    }
    String of = values.text("of", "baseline");
    boolean isDrawn = values.text("draw") != null;
    int count = isDrawn ? Math.toIntExact(values.number("draw", 1, MOST_DRAWN)) : 0;
    List<String> types = List.of(values.text("dtype", "bf16").split(","));
    List<String> layouts = List.of(values.text("layout", "nt").split(","));
    AcceptanceFigure figure =
        new AcceptanceFigure(
            name,
            switch (of) {
              case "baseline", "peer" -> Ratio.BASELINE;
              case "untuned" -> Ratio.UNTUNED;
              default -> throw new UserError("of=" + of + ": it is baseline or untuned");
            },
            isDrawn,
            new Musts(
                values.decimal("mean", 0),
                values.decimal("least", 0),
                values.decimal("p5", 0),
                share(values.decimal("expected", 0))),
            UnseenGemms.draw(31 * seed + name.hashCode(), count, types, layouts));
    values.finish("name, of, mean, least, p5, expected, draw, dtype, layout");
    return figure;
  }

  private static double share(double expected) {
    if (expected > 1) {
      throw new UserError("expected=" + expected + ": it is a share of the kernels, 1 at most");
    }
    return expected;
  }
}
