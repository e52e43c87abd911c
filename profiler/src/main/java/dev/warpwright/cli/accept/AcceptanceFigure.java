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
 * products, {@code gemm MNK=4096}.
 *
 * @param of what is divided by what
 * @param mean what the geometric mean must reach
 * @param least what each ratio must reach
 */
record AcceptanceFigure(
    String name, Ratio of, double mean, double least, List<GemmWorkload> workloads) {
  /** What is divided by what. */
  enum Ratio {
    /** The time of the fastest baseline by ours. */
    BASELINE,
    /** The time of the tuned kernel by that of the analytic model's choice. */
    UNTUNED
  }

  AcceptanceFigure {
    workloads = List.copyOf(workloads);
  }

  /**
   * Reads a file.
   *
   * @throws UserError if it is none, with its line
   */
  static List<AcceptanceFigure> read(Path file) {
    List<AcceptanceFigure> figures = new ArrayList<>();
    List<GemmWorkload> workloads = new ArrayList<>();
    for (TaskFile.Task task : TaskFile.read(file)) {
      try {
        if (task.what().equals("figure")) {
          workloads = new ArrayList<>();
          figures.add(figure(task));
        } else if (figures.isEmpty()) {
          throw new UserError("a product before the first figure; begin with 'figure name=...'");
        } else {
          AcceptanceFigure last = figures.removeLast();
          workloads.add(PerfCommand.workload(task));
          figures.add(new AcceptanceFigure(last.name, last.of, last.mean, last.least, workloads));
        }
      } catch (UserError e) {
        throw TaskFile.located(task, e);
      }
    }
    return List.copyOf(figures);
  }

  private static AcceptanceFigure figure(TaskFile.Task task) {
    KeyValues values = new KeyValues(task.arguments());
    String name = values.text("name");
    if (name == null) {
      throw new UserError("a figure without a name; write name=...");
    }
    String of = values.text("of", "peer");
    AcceptanceFigure figure =
        new AcceptanceFigure(
            name,
            switch (of) {
              case "peer" -> Ratio.BASELINE;
              case "untuned" -> Ratio.UNTUNED;
              default -> throw new UserError("of=" + of + ": it is peer or untuned");
            },
            values.decimal("mean", 0),
            values.decimal("least", 0),
            List.of());
    values.finish("name, of, mean, least");
    return figure;
  }
}
