package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.attention.AttentionPerf;
import dev.warpwright.cli.attention.AttentionSearch;
import dev.warpwright.cli.attention.AttentionTask;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.jobs.Job;
import dev.warpwright.cli.jobs.JobFolder;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.networks.NetworkTuneRequest;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Reports;
import dev.warpwright.measure.tuning.GemmTuning;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.Tuner;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "tune",
    description = {
      "Search for the fastest kernel of a GEMM on the GPU here: 'tune gemm MN=1024 K=2048"
          + " t=500 dtype=bf16'; or for the fastest way to fuse a whole network: 'tune mlp"
          + " widths=64,64,64 act=relu dtype=f16 rows=65536', 'tune MODEL rows=4096'. Goes on where"
          + " an earlier search was interrupted.",
      "",
      "M, N, K: the shape; letters may share a value, as MNK=4096. dtype: bf16 (default),"
          + " f16, tf32, e4m3, e5m2, f32, f64, int8. acc: f16 to accumulate f16 in f16. layout: nt"
          + " (default), nn, tn, tt."
          + " t: trials (200). seconds: time limit (600). search: evolution, random or exhaustive."
          + " space: template or free; O: 0 (template) and 1 (free) in the background, as with"
          + " --detach, 65536 and 65537 the same in the foreground. model,"
          + " transfer: 0 to search without what was learnt. bias, act, alpha, beta, scale (row,"
          + " column, both), gate, residual: what follows the GEMM. batch: so many GEMMs of"
          + " one shape; shared: a or b, what all of them share; groups: so many B, of which a"
          + " table names one for each GEMM. lda, ldb, ldc: elements from a row to the next;"
          + " stridea, strideb, stridec: from the matrix of one GEMM to the next one's, 0 where"
          + " all share it.",
      "",
      "Of ffn, the feed-forward block of a transformer: M, rows; D, features in and out; H,"
          + " features between; gated: 1 for act(gate) * up (0); act (gelu, of gated blocks silu),"
          + " bias (0), dtype (bf16), seed (1). Of mlp: rows (or M); widths: inputs and each layer's"
          + " outputs; act: between the layers (relu); bias: 0 or 1 (0); dtype: f16 (default), bf16,"
          + " tf32, f32; acc: f16 to accumulate f16 in f16, except through shared memory; seed: of its"
          + " random weights and inputs (1). Of a model's file: rows (65536), dtype (the file's), acc,"
          + " seed (1). Of all of these: t, seconds (300). Of one that is too wide for one kernel each GEMM is"
          + " tuned, and then, in what that leaves of the time, a quarter at least, which of their kernels are"
          + " fastest together.",
      "",
      "Of attention: B, entries (1), each with all keys; HQ, HKV, heads (HKV: as many as HQ); D, of a"
          + " head; T, tokens (1); S, keys; causal (0), page (0: contiguous), dtype (bf16); t (24). rows, keys, splits, threads, stages: the only values to try, as"
          + " stages=2,3.",
      "",
      "Of FILE.ir, one's own function: values of its scalars, t (64), seconds (120), seed; tiles,"
          + " threads, vectors, unrolling, shared memory are searched, on the GPU here or, without"
          + " one, by prediction."
    })
public final class TuneCommand extends Command {
  private static final int ROUNDS = 9;
  private static final double MOST_SECONDS = 1e7;

  /** What is added to the letter O for the foreground. */
  private static final long FOREGROUND = 65536;

  /** Of the time for a network with a GEMM for each layer, what is for its GEMMs. */
  private static final double OF_GEMMS = 0.75;

  /** All alternatives of a network are measured if there are no more than this. */
  private static final long TRIALS = 200;

  /** So many programs of a network with a GEMM for each layer, whose search ends with its time. */
  private static final int PROGRAMS = 1000;

  private final Action<TuneRequest> action;
  private final Action<NetworkTuneRequest> networks;
  private final Action<FunctionTuneRequest> functions;
  private final Supplier<JobFolder> jobs;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "WHAT",
      description =
          "gemm, mlp, ffn, layer, attention, a model's file or FILE.ir, one's own function.")
  String what = "";

  @Parameters(index = "1..*", arity = "0..*", paramLabel = "KEY=VALUE", description = "See above.")
  List<String> arguments = List.of();

  @Option(
      names = "--file",
      paramLabel = "FILE",
      description = "Tune many: each line is a task, as 'gemm MNK=4096 dtype=bf16 t=64'.")
  @Nullable Path file;

  @Option(names = "--db", paramLabel = "FILE", description = "The tuning database.")
  @Nullable Path database;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "DIR",
      description = "Where the winner's files go.")
  @Nullable Path folder;

  @Option(
      names = "--arch",
      paramLabel = "A",
      description = "The architecture of a file of weights without a graph, as 'run' takes it.")
  @Nullable String arch;

  @Option(
      names = "--detach",
      description = "Tune in the background, whatever becomes of the terminal; see 'jobs'.")
  boolean detach;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description =
          "With --file or --on: so long for all tasks together, whose trials go to whichever is"
              + " expected to gain most.")
  double seconds;

  @Option(
      names = "--until",
      paramLabel = "P",
      description =
          "With --file or --on: a GEMM is done at this part of its roofline, as 0.8; ends when"
              + " all are.")
  double until;

  @Option(
      names = "--on",
      paramLabel = "FLEET",
      description =
          "Tune on the GPUs of a Spark cluster: spark://HOST:7077, local[N] or"
              + " local-cluster[EXECUTORS,CORES,MIB]; see docs/fleet.md.")
  @Nullable String fleet;

  @Option(
      names = "--conf",
      paramLabel = "KEY=VALUE",
      description = "With --on: a setting of Spark.")
  Map<String, String> settings = Map.of();

  public TuneCommand(
      Action<TuneRequest> action,
      Action<NetworkTuneRequest> networks,
      Action<FunctionTuneRequest> functions,
      Supplier<JobFolder> jobs) {
    this.action = action;
    this.networks = networks;
    this.functions = functions;
    this.jobs = jobs;
  }

  @Override
  public Report perform(Progress progress) {
    if (what.endsWith(".ir")) {
      return functions.perform(function(), progress);
    }
    TuneRequest.Together together = together();
    List<TuneRequest.Search> searches = new ArrayList<>();
    List<NetworkTuneRequest.Search> whole = new ArrayList<>();
    List<NetworkTuneRequest.Search> layers = new ArrayList<>();
    List<AttentionSearch> attention = new ArrayList<>();
    for (TaskFile.Task task : TaskFile.tasks(file, what, arguments)) {
      try {
        if (AttentionTask.is(task.what())) {
          attention.add(AttentionSearch.of(task.arguments()));
        } else if (NetworkTask.isNetwork(task.what())) {
          network(task, searches, whole, layers);
        } else {
          KeyValues values = new KeyValues(task.arguments());
          searches.add(search(Products.of(task.what(), values), values, task.what()));
        }
      } catch (UserError e) {
        throw TaskFile.located(task, e);
      }
    }
    if (isInBackground() && System.getProperty(JobFolder.FOLDER) == null) {
      return detached();
    }
    Path records = TuningFiles.database(database);
    TuneRequest request =
        new TuneRequest(
            searches,
            records,
            folder,
            ROUNDS,
            layers.isEmpty() || fleet != null ? together : together.part(OF_GEMMS));
    if (fleet != null) {
      if (!whole.isEmpty() || !attention.isEmpty()) {
        throw new UserError(
            "--on " + fleet + ": for GEMMs; networks and attention are tuned on the GPU here");
      }
      return FleetTune.perform(fleet, settings, request, progress);
    }
    List<Report> reports = new ArrayList<>();
    if (!attention.isEmpty()) {
      TuningDevice here = TuningDevice.find();
      try (DeviceQueue.Turn _ = here.turn("tune", progress);
          TuningDatabase tuned = TuningStore.open(records, progress)) {
        for (AttentionSearch each : attention) {
          reports.add(AttentionPerf.tune(each, ROUNDS, tuned, here.environment(), progress));
        }
      }
    }
    if (!whole.isEmpty()) {
      reports.add(networks.perform(new NetworkTuneRequest(whole, records, ROUNDS), progress));
    }
    long start = System.nanoTime();
    if (!searches.isEmpty()) {
      reports.add(action.perform(request, progress));
    }
    // With the kernels that were found for their GEMMs.
    if (!layers.isEmpty()) {
      double taken = (System.nanoTime() - start) * 1e-9;
      reports.add(
          networks.perform(
              new NetworkTuneRequest(shared(layers, together, taken), records, ROUNDS), progress));
    }
    return reports.size() == 1 ? reports.getFirst() : Reports.many(reports);
  }

  /**
   * With their part of the time that all tasks have together, if they have, and what their GEMMs
   * have left of theirs.
   *
   * @param taken seconds for GEMMs
   */
  static List<NetworkTuneRequest.Search> shared(
      List<NetworkTuneRequest.Search> layers, TuneRequest.Together together, double taken) {
    double own =
        together.seconds() > 0
            ? together.seconds() * (1 - OF_GEMMS)
            : layers.stream().mapToDouble(NetworkTuneRequest.Search::seconds).sum();
    double left = Math.max(0, own * OF_GEMMS / (1 - OF_GEMMS) - taken) / layers.size();
    return layers.stream()
        .map(
            layer ->
                new NetworkTuneRequest.Search(
                    layer.task(),
                    layer.trials(),
                    left + (together.seconds() > 0 ? own / layers.size() : layer.seconds())))
        .toList();
  }

  /** What the options say of one's own function. */
  private FunctionTuneRequest function() {
    if (file != null || database != null || arch != null || fleet != null || detach) {
      throw new UserError(what + ": a function takes t=, seconds=, seed=, its scalars and --out");
    }
    KeyValues values = new KeyValues(arguments);
    int trials = (int) values.number("t", 1, 1_000_000, 64);
    double limit = values.seconds("seconds", 120);
    long seed = values.number("seed", 0, Long.MAX_VALUE, 1);
    return new FunctionTuneRequest(
        Path.of(what), values.otherNumbers(), trials, limit, seed, folder);
  }

  /** What the options say of all tasks together. */
  private TuneRequest.Together together() {
    if (file == null && fleet == null && (seconds != 0 || until != 0)) {
      throw new UserError(
          "--seconds and --until are for --file and --on; of one task write seconds=60");
    }
    if (!(seconds >= 0) || seconds > MOST_SECONDS) {
      throw new UserError("--seconds " + seconds + ": more than 0");
    }
    if (!(until >= 0 && until <= 1)) {
      throw new UserError("--until " + until + ": a part of the roofline, as 0.8");
    }
    if (fleet == null && !settings.isEmpty()) {
      throw new UserError("--conf " + settings.keySet().iterator().next() + ": for --on");
    }
    if (fleet != null && folder != null) {
      throw new UserError(
          "--out " + folder + ": for the GPU here; 'export' writes a winner's files");
    }
    return new TuneRequest.Together(seconds, until);
  }

  /** A network's ways, or its GEMMs if those are expected to be faster than one kernel. */
  private void network(
      TaskFile.Task task,
      List<TuneRequest.Search> searches,
      List<NetworkTuneRequest.Search> whole,
      List<NetworkTuneRequest.Search> layers) {
    KeyValues values = new KeyValues(task.arguments());
    NetworkTask network = NetworkTask.of(task.what(), values, arch).apart("tune");
    // Whoever tunes has a GPU; who has none is told so later.
    GpuTarget target = TuningDevice.look().map(TuningDevice::target).orElse(GpuTarget.SM_90A);
    if (network.isByLayer(target)) {
      TuneRequest.Search gemms = search(Products.of(network), values, task.what());
      double limit = gemms.options().limits().seconds();
      searches.add(gemms.within(limit * OF_GEMMS));
      layers.add(new NetworkTuneRequest.Search(network, PROGRAMS, limit * (1 - OF_GEMMS)));
      return;
    }
    if (folder != null) {
      throw new UserError(
          "--out " + folder + ": for GEMMs; 'export MODEL -o DIR' writes a network's files");
    }
    int trials = (int) values.number("t", 1, 1_000_000, TRIALS);
    double seconds = values.number("seconds", 1, 1_000_000, 300);
    Long letter = letter(values);
    if (letter != null && letter % FOREGROUND == 1) {
      throw new UserError("O=" + letter + ": a network has no free space to search");
    }
    values.finish(NetworkTask.keys(task.what()) + ", t, seconds, O");
    whole.add(new NetworkTuneRequest.Search(network, trials, seconds));
  }

  private Report detached() {
    List<String> command = new ArrayList<>(List.of("tune"));
    if (!what.isEmpty()) {
      command.add(what);
    }
    command.addAll(arguments);
    option(command, "--file", file);
    option(command, "--db", database);
    option(command, "--out", folder);
    option(command, "--arch", arch);
    option(command, "--seconds", seconds > 0 ? seconds : null);
    option(command, "--until", until > 0 ? until : null);
    option(command, "--on", fleet);
    settings.forEach((key, value) -> command.addAll(List.of("--conf", key + "=" + value)));
    if (json) {
      command.add("--json");
    }
    Job job = jobs.get().start(command);
    return new Report(
        true,
        String.format(
            Locale.ROOT,
            "job %d tunes in the background; 'warpwright jobs watch %d' follows it",
            job.id(),
            job.id()),
        Json.object().with("job", job.id()).with("folder", job.folder().toString()));
  }

  private static void option(List<String> command, String name, @Nullable Object value) {
    if (value != null) {
      command.addAll(List.of(name, value.toString()));
    }
  }

  private static TuneRequest.Search search(Products products, KeyValues values, String what) {
    if (products.workloads().stream().anyMatch(product -> product.k() == 0)) {
      throw new UserError(
          "K=0: there is nothing to tune where nothing is multiplied; 'perf gemm' runs and verifies"
              + " it");
    }
    Tuner.Limits limits =
        new Tuner.Limits(
            (int) values.number("t", 1, 1_000_000, 200L * products.counts().size()),
            (double) values.number("seconds", 1, 1_000_000, 600));
    GemmTuning.Options options =
        new GemmTuning.Options(
            limits,
            GemmTuning.Search.parse(values.text("search", "evolution")),
            free(values),
            values.number("model", 0, 1, 1) == 1,
            values.number("transfer", 0, 1, 1) == 1,
            values.number("seed", 0, Long.MAX_VALUE, 1));
    values.finish(Products.keys(what) + ", t, seconds, search, space, O, model, transfer, seed");
    return new TuneRequest.Search(products, options);
  }

  /** {@code space=free}, or the same by {@link #letter}. */
  private static boolean free(KeyValues values) {
    String space = values.text("space");
    Long letter = letter(values);
    if (space != null && letter != null) {
      throw new UserError("either space=" + space + " or O=" + letter + ", not both");
    }
    if (letter != null) {
      return letter % FOREGROUND == 1;
    }
    return switch (space == null ? "template" : space) {
      case "template" -> false;
      case "free" -> true;
      default -> throw new UserError("space=" + space + ": it is template or free");
    };
  }

  /**
   * For people who are used to one letter: {@code O=0} searches the families' templates, {@code
   * O=1} the free space, both in the background; 65536 more, and it happens in the foreground.
   */
  private static @Nullable Long letter(KeyValues values) {
    String text = values.text("O");
    if (text == null) {
      return null;
    }
    if (!List.of("0", "1", "65536", "65537").contains(text)) {
      throw new UserError(
          "O="
              + text
              + ": it is 0 (template) or 1 (free) in the background, 65536 or 65537 for the same in"
              + " the foreground");
    }
    return Long.parseLong(text);
  }

  private boolean isInBackground() {
    for (TaskFile.Task task : TaskFile.tasks(file, what, arguments)) {
      Long letter = letter(new KeyValues(task.arguments()));
      if (letter != null && letter < FOREGROUND) {
        return true;
      }
    }
    return detach;
  }
}
