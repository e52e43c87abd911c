package dev.warpwright.cli.kernels;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.attention.AttentionTask;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.command.NetworkOptions;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.parallel.cost.ParallelRequest;
import dev.warpwright.verify.CheckOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "check",
    description =
        "Run kernels in the simulator: races, deadlocks, bounds, uninitialised reads, misuse.")
public final class CheckCommand extends Command {
  private static final int SCHEDULES = 3;

  private final Action<CheckRequest> action;

  @Parameters(
      index = "0",
      paramLabel = "FILE",
      description =
          "A file of Kernel text (.kernel, .ir), a model, ladder for all rungs, ladder:RUNG,"
              + " families for small GEMMs out of schedules, families:NAME, ffn or mlp with what"
              + " makes the network ('check ffn M=16 D=256 H=1024 gated=1'), attention ('check"
              + " attention B=2 HQ=8 HKV=2 D=64 S=127'), or all with"
              + " --mutants.")
  Path file = Path.of("");

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "NAME=N",
      description =
          "Values of scalars, as M=40, default: small ones that are no whole tiles; or of a"
              + " network, as for 'perf'.")
  List<String> assignments = List.of();

  @Option(
      names = "--target",
      paramLabel = "T",
      converter = TargetName.Converter.class,
      description = "The GPU for which a model is compiled; default: sm_90a.")
  TargetName target = TargetName.SIM;

  @Mixin NetworkOptions network = new NetworkOptions();

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "The rows of a model, or the first scalar of a kernel.")
  @Nullable Integer batch;

  @Option(
      names = "--attr",
      paramLabel = "NAME=VALUE",
      description = "Another value for an attribute of a kernel, as order=hilbert.")
  Map<String, String> attributes = new TreeMap<>();

  @Option(
      names = "--schedules",
      paramLabel = "N",
      description =
          "In how many orders of blocks and warps to run: forwards, backwards, then at random;"
              + " default: 3.")
  int schedules = SCHEDULES;

  @Option(
      names = "--sms",
      paramLabel = "N",
      description = "How many blocks run at the same time; default: 1, then 3.")
  @Nullable Integer sms;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "The seed of data and orders; default: another one each time.")
  @Nullable Long seed;

  @Option(
      names = "--mutants",
      paramLabel = "N",
      description =
          "Plant up to N mistakes of each kind, one at a time, and tell which are reported.")
  @Nullable Integer mutants;

  @Option(
      names = "--emit",
      paramLabel = "DIR",
      description =
          "With --mutants: write each mutant there as a CUDA program, for other checkers.")
  @Nullable Path emit;

  @Option(
      names = "--table",
      paramLabel = "FILE.md",
      description = "With --mutants: write there what became of them; what stands above stays.")
  @Nullable Path table;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "With --mutants: how many to test at the same time; default: one a processor.")
  @Nullable Integer threads;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description =
          "With --mutants: begin no more after so many seconds; what was left out is said, in the"
              + " table, too.")
  @Nullable Double seconds;

  @Option(
      names = "--counters",
      description =
          "Predict instead what the memories of an H200 are asked for: bank conflicts, sectors,"
              + " bytes, and the time that follows. For kernels in text and rungs, with their"
              + " scalars, and for models, with --batch.")
  boolean counters;

  @Option(
      names = "--gpu",
      description =
          "Run everything on this machine's GPU too, with the same data, and compare the results.")
  boolean gpu;

  @Option(
      names = "--gpus",
      paramLabel = ParallelRequest.SYNTAX,
      description = "Of a model: on so many simulated GPUs, as for 'run'.")
  String gpus = "1";

  @Option(
      names = "--input",
      paramLabel = "[NAME=]FILE.npy",
      description =
          "What a buffer of a kernel in text holds; without NAME, the buffer that is called like the"
              + " file, or the next one.")
  List<String> inputs = List.of();

  @Option(
      names = "--print",
      paramLabel = "NAME",
      split = ",",
      description = "Show what the buffer holds afterwards; several with commas.")
  List<String> prints = List.of();

  @Option(
      names = "--schedule",
      paramLabel = "STEPS",
      description = "Schedule the file's function first, as 'kernel' does.")
  @Nullable Path schedule;

  @Option(
      names = "--steps",
      paramLabel = "FIRST-LAST",
      description = "Show step by step what these threads of a block hold, as 0-7.")
  @Nullable String steps;

  @Option(
      names = "--block",
      paramLabel = "X,Y,Z",
      split = ",",
      description = "With --steps: the block whose threads are shown; default: 0.")
  List<Long> block = List.of(0L);

  public CheckCommand(Action<CheckRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    if (batch != null) {
      NetworkOptions.checkRows(batch);
    }
    atLeastOne("--sms", sms);
    atLeastOne("--schedules", schedules);
    atLeastOne("--mutants", mutants);
    atLeastOne("--threads", threads);
    if (gpu && (mutants != null || counters)) {
      throw new UserError("--gpu: neither with --mutants nor with --counters");
    }
    if (emit != null && mutants == null) {
      throw new UserError("--emit " + emit + ": needs --mutants");
    }
    if (table != null && mutants == null) {
      throw new UserError("--table " + table + ": needs --mutants");
    }
    if (seconds != null && (mutants == null || !(seconds > 0))) {
      throw new UserError("--seconds " + seconds + ": a number above 0, with --mutants");
    }
    NetworkTask random = random();
    AttentionTask attention =
        AttentionTask.is(file.toString()) ? AttentionTask.of(assignments) : null;
    Map<String, Long> scalars = new TreeMap<>();
    if (random == null && attention == null) {
      refuseOthers();
      assignments.forEach(assignment -> KernelCommand.assign(assignment, scalars));
    }
    return action.perform(
        new CheckRequest(
            file,
            target,
            network.precision(),
            network.architecture(),
            attributes,
            new CheckOptions(
                seed == null ? ThreadLocalRandom.current().nextLong() : seed,
                schedules,
                optional(sms),
                scalars,
                random != null && batch == null ? OptionalInt.of(random.rows()) : optional(batch)),
            optional(mutants),
            emit,
            table,
            threads == null ? Runtime.getRuntime().availableProcessors() : threads,
            seconds == null ? OptionalDouble.empty() : OptionalDouble.of(seconds),
            counters,
            gpu,
            random,
            attention,
            ParallelRequest.parse(gpus),
            new OwnData(inputs, prints, schedule, steps, block)),
        progress);
  }

  /** What other commands take, or this one in another way, or is misspelt. */
  private void refuseOthers() {
    String what = file.toString();
    if (what.equals("gemm") && !Files.exists(file)) {
      throw new UserError(
          "gemm: 'check families' checks small GEMMs of every kind; 'perf gemm "
              + (assignments.isEmpty() ? "MNK=4096" : String.join(" ", assignments))
              + "' verifies the kernel of a shape, on a GPU");
    }
    for (String each : assignments) {
      if (each.startsWith("dtype=")) {
        throw new UserError(
            each
                + ": "
                + (what.startsWith("ladder")
                    ? "check takes rungs in f32; 'ladder --target sim " + each + "' runs others"
                    : "a kernel's text has its types, a model takes --precision; networks with"
                        + " random weights and attention take dtype="));
      }
    }
  }

  /** The network of random weights that is asked for, if one is. */
  private @Nullable NetworkTask random() {
    String what = file.toString();
    if (!NetworkTask.isRandom(what)) {
      return null;
    }
    KeyValues values = new KeyValues(assignments);
    NetworkTask task = NetworkTask.of(what, values, null);
    values.finish(NetworkTask.keys(what));
    return task;
  }

  private static OptionalInt optional(@Nullable Integer value) {
    return value == null ? OptionalInt.empty() : OptionalInt.of(value);
  }

  private static void atLeastOne(String option, @Nullable Integer value) {
    if (value != null && value < 1) {
      throw new UserError(option + " " + value + ": must be at least 1");
    }
  }
}
