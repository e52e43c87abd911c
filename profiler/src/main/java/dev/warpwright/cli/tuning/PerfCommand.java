package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.workload.GemmWorkload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "perf",
    description = {
      "Measure the best known kernel of a product beside cuBLAS and cuBLASLt, in the same run:"
          + " 'perf gemm MNK=4096 dtype=bf16'.",
      "",
      "M, N, K: the shape; letters may share a value. dtype: bf16, f16, tf32, e4m3, e5m2, f32, f64,"
          + " int8. acc: f16 to sum products of f16 in f16. layout: nt, nn, tn, tt. bias, act,"
          + " alpha, beta, scale (row, column, both), gate, residual: what follows the product."
          + " batch: so many products; shared: a or b, what all of them share; groups: so many B,"
          + " of which a table names one for each product. lda, ldb, ldc: elements from a row to"
          + " the next; stridea, strideb, stridec: from the matrix of one product to the next"
          + " one's, 0 where all share it. Without a record of the shape, the kernel is the"
          + " analytic model's choice."
    })
public final class PerfCommand extends Command {
  private static final int ROUNDS = 9;

  private final Action<PerfRequest> action;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "WHAT",
      description = "gemm, mlp, ffn or a model's file.")
  String what = "";

  @Parameters(index = "1..*", arity = "0..*", paramLabel = "KEY=VALUE", description = "See above.")
  List<String> arguments = List.of();

  @Option(
      names = "--file",
      paramLabel = "FILE",
      description = "Measure many: each line is a task, as 'gemm MNK=4096 dtype=bf16'.")
  @Nullable Path file;

  @Option(names = "--db", paramLabel = "FILE", description = "The tuning database.")
  @Nullable Path database;

  @Option(names = "--untuned", description = "Ignore the records: what is it like untuned?")
  boolean untuned;

  @Option(
      names = "--arch",
      paramLabel = "A",
      description = "The architecture of a file of weights without a graph, as 'run' takes it.")
  @Nullable String arch;

  @Option(
      names = "--cutlass",
      paramLabel = "FILE",
      description = "Also list the fastest of a CSV file of the CUTLASS profiler.")
  @Nullable Path cutlass;

  @Option(
      names = "--beside",
      paramLabel = "FILE",
      description =
          "A file of Kernel text for the product, verified and timed in the same run; may be given"
              + " several times.")
  List<Path> beside = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Rounds of timing, at least 5; default: 9.")
  int rounds = ROUNDS;

  public PerfCommand(Action<PerfRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    if (rounds < 5) {
      throw new UserError("--rounds " + rounds + ": at least 5");
    }
    List<Products> tasks = new ArrayList<>();
    for (TaskFile.Task task : TaskFile.tasks(file, what, arguments)) {
      try {
        tasks.add(products(task, arch));
      } catch (UserError e) {
        throw TaskFile.located(task, e);
      }
    }
    return action.perform(
        new PerfRequest(
            tasks,
            TuningFiles.database(database),
            rounds,
            untuned,
            cutlass == null ? null : CutlassCsv.read(cutlass),
            beside),
        progress);
  }

  /** The product of a task. */
  public static GemmWorkload workload(TaskFile.Task task) {
    if (!task.what().equals("gemm")) {
      throw new UserError("'" + task.what() + "' is no product; what is one is gemm");
    }
    return products(task, null).workloads().getFirst();
  }

  private static Products products(TaskFile.Task task, @Nullable String arch) {
    KeyValues values = new KeyValues(task.arguments());
    Products products = Products.of(task.what(), values, arch);
    // A file of tasks serves tune too.
    for (String key :
        List.of("t", "seconds", "search", "model", "transfer", "seed", "space", "O")) {
      values.text(key);
    }
    values.finish(Products.keys(task.what()));
    return products;
  }
}
