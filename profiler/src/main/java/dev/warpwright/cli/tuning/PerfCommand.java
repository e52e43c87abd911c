package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.attention.AttentionPerf;
import dev.warpwright.cli.attention.AttentionSearch;
import dev.warpwright.cli.attention.AttentionTask;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.devices.FleetEstimate;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.kernels.CutlassCsv;
import dev.warpwright.cli.networks.NetworkRequest;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Reports;
import dev.warpwright.parallel.cost.ParallelRequest;
import dev.warpwright.space.record.TuningDatabase;
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
      "Measure the best known kernel of a GEMM beside cuBLAS and cuBLASLt, in the same run:"
          + " 'perf gemm MNK=4096 dtype=bf16'; or a whole network beside the other ways to fuse it:"
          + " 'perf mlp widths=64,64,64 act=relu dtype=f16 rows=1048576', 'perf MODEL rows=65536'.",
      "",
      "M, N, K: the shape; letters may share a value. dtype: bf16 (default), f16, tf32, e4m3, e5m2,"
          + " f32, f64, int8. acc: f16 to accumulate f16 in f16. layout: nt (default), nn, tn, tt."
          + " bias, act,"
          + " alpha, beta, scale (row, column, both), gate, residual: what follows the GEMM."
          + " batch: so many GEMMs; shared: a or b, what all of them share; groups: so many B,"
          + " of which a table names one for each GEMM. lda, ldb, ldc: elements from a row to"
          + " the next; stridea, strideb, stridec: from the matrix of one GEMM to the next"
          + " one's, 0 where all share it. Without a record of the shape, the kernel is the"
          + " analytic model's choice.",
      "",
      "Of ffn, the feed-forward block of a transformer: M, rows; D, features in and out; H,"
          + " features between; gated: 1 for act(gate) * up (0); act (gelu, of gated blocks silu),"
          + " bias (0), dtype (bf16), seed (1); order (sequence, rows) and wait (row, rows:N, tile,"
          + " grid), or one of the two: both GEMMs in one persistent kernel on sm_90a, of a plain"
          + " block with a GELU. Of mlp: rows (or M); widths: inputs and each layer's"
          + " outputs; act: between the layers (relu); bias: 0 or 1 (0); dtype: f16 (default), bf16,"
          + " tf32, f32; acc: f16 to accumulate f16 in f16, except through shared memory; seed: of its"
          + " random weights and inputs (1). Of a model's file: rows (65536), dtype (the file's), acc,"
          + " seed (1). Bursts of 8 ms after a rest, and the fastest"
          + " without rest.",
      "",
      "fleet: what 'tune --on' would take on many GPUs, by assumptions that it prints; see"
          + " docs/fleet-cost.md."
    })
public final class PerfCommand extends Command {
  private static final int ROUNDS = 9;

  private final Action<PerfRequest> action;
  private final Action<NetworkRequest> networks;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "WHAT",
      description = "gemm, mlp, ffn, layer, attention, a model's file, or fleet.")
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
      names = "--quick",
      description =
          "Of a GEMM without a record on this GPU: time a few kernels first, some two seconds, and"
              + " remember the fastest.")
  boolean quick;

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
          "A file of Kernel text for the GEMM, verified and timed in the same run; may be given"
              + " several times.")
  List<Path> beside = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Rounds of timing, at least 5; default: 9.")
  int rounds = ROUNDS;

  @Option(
      names = "--all",
      description =
          "Of a network: measure all ways to fuse it, not the best beside shared chaining.")
  boolean all;

  @Option(names = "--bursts", description = "Of a network: time nothing without rest.")
  boolean bursts;

  @Option(
      names = "--record",
      description =
          "Of a network: write what was measured to the database, as 'tune' does; with --all, 'run'"
              + " uses the fastest from then on.")
  boolean record;

  @Option(
      names = "--gpus",
      paramLabel = ParallelRequest.SYNTAX,
      description = "Of a network: shared by so many GPUs, as for 'run', beside one of them.")
  String gpus = "1";

  public PerfCommand(Action<PerfRequest> action, Action<NetworkRequest> networks) {
    this.action = action;
    this.networks = networks;
  }

  @Override
  public Report perform(Progress progress) {
    if (rounds < 5) {
      throw new UserError("--rounds " + rounds + ": at least 5");
    }
    if (quick && untuned) {
      throw new UserError("--quick remembers a record, --untuned ignores it: give one of them");
    }
    if (what.equals("fleet") && file == null) {
      return FleetEstimate.of(new KeyValues(arguments));
    }
    List<Products> tasks = new ArrayList<>();
    List<NetworkTask> whole = new ArrayList<>();
    List<AttentionSearch> attention = new ArrayList<>();
    for (TaskFile.Task task : TaskFile.tasks(file, what, arguments)) {
      try {
        if (quick && !task.what().equals("gemm")) {
          throw new UserError("--quick is for GEMMs, " + task.what() + " is none: see tune");
        }
        if (AttentionTask.is(task.what())) {
          attention.add(AttentionSearch.one(task.arguments()));
        } else if (NetworkTask.isNetwork(task.what())) {
          whole.add(network(task));
        } else {
          tasks.add(products(task));
        }
      } catch (UserError e) {
        throw TaskFile.located(task, e);
      }
    }
    CutlassCsv others = cutlass == null ? null : CutlassCsv.read(cutlass);
    Path records = TuningFiles.database(database);
    List<Report> reports = new ArrayList<>();
    if (!attention.isEmpty()) {
      TuningDevice here = TuningDevice.find();
      try (DeviceQueue.Turn _ = here.turn("perf", progress);
          TuningDatabase tuned = TuningStore.open(records, progress)) {
        for (AttentionSearch each : attention) {
          reports.add(
              AttentionPerf.perf(
                  each,
                  rounds,
                  untuned,
                  tuned,
                  here.environment(),
                  progress,
                  each.features() == 0
                      ? AttentionPerf.Ways.ALONE
                      : AttentionPerf.Ways.projecting(
                          each, here.target(), here.sms(), here.chooser(tuned))));
        }
      }
    }
    if (!whole.isEmpty()) {
      reports.add(
          networks.perform(
              new NetworkRequest(
                  whole,
                  records,
                  rounds,
                  all,
                  untuned,
                  bursts,
                  record,
                  ParallelRequest.parse(gpus)),
              progress));
    }
    if (!tasks.isEmpty()) {
      reports.add(
          action.perform(
              new PerfRequest(tasks, records, rounds, untuned, quick, others, beside), progress));
    }
    return reports.size() == 1 ? reports.getFirst() : Reports.many(reports);
  }

  private NetworkTask network(TaskFile.Task task) {
    KeyValues values = new KeyValues(task.arguments());
    NetworkTask network = NetworkTask.of(task.what(), values, arch);
    ignoreSearch(values);
    values.finish(NetworkTask.keys(task.what()));
    if (cutlass != null || !beside.isEmpty()) {
      throw new UserError("--cutlass and --beside are for GEMMs, " + task.what() + " is none");
    }
    return network;
  }

  /** The product of a task. */
  public static GemmWorkload workload(TaskFile.Task task) {
    if (!task.what().equals("gemm")) {
      throw new UserError("'" + task.what() + "' is no GEMM; what is one is gemm");
    }
    return products(task).workloads().getFirst();
  }

  private static Products products(TaskFile.Task task) {
    KeyValues values = new KeyValues(task.arguments());
    Products products = Products.of(task.what(), values);
    ignoreSearch(values);
    values.text("seed");
    values.finish(Products.keys(task.what()));
    return products;
  }

  /** A file of tasks serves tune too. */
  private static void ignoreSearch(KeyValues values) {
    for (String key : List.of("t", "seconds", "search", "model", "transfer", "space", "O")) {
      values.text(key);
    }
  }
}
