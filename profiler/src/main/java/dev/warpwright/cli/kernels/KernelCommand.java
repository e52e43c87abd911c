package dev.warpwright.cli.kernels;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.command.NetworkOptions;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.kernels.KernelRequest.Task;
import dev.warpwright.cli.kernels.KernelRequest.Timing;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "kernel",
    description =
        "Parse and verify a program in text, a kernel or a function, which --schedule makes one; then"
            + " print, compile, simulate or run it if asked to.")
public final class KernelCommand extends Command {
  private static final int ROUNDS = 9;
  private static final Set<Task> WRITING = Set.of(Task.PRINT, Task.LOWER, Task.CUDA, Task.COMPILE);
  private static final Pattern ASSIGNMENT = Pattern.compile("(\\w+)=(\\d{1,18})");
  private static final Pattern SHARED = Pattern.compile("[MNK]{2,3}");

  /** At most one of these is given. */
  static final class Tasks {
    @Option(names = "--print", description = "Print the text in its canonical form.")
    boolean print;

    @Option(names = "--cuda", description = "Print CUDA C++.")
    boolean cuda;

    @Option(names = "--lower", description = "Print the kernel that a function becomes.")
    boolean lower;

    @Option(names = "--compile", description = "Compile for the target.")
    boolean compile;

    @Option(names = "--simulate", description = "Run in the simulator, under its sanitizers.")
    boolean simulate;

    @Option(
        names = "--run",
        description = "Run on random data, and verify against the interpreter.")
    boolean run;

    @Option(
        names = "--bench",
        description = "Run on the GPU, verified, beside cuBLAS; needs the kernel's scalars.")
    boolean bench;

    Task task() {
      if (print) {
        return Task.PRINT;
      } else if (cuda) {
        return Task.CUDA;
      } else if (lower) {
        return Task.LOWER;
      } else if (compile) {
        return Task.COMPILE;
      } else if (simulate) {
        return Task.SIMULATE;
      } else if (bench) {
        return Task.BENCH;
      } else {
        return run ? Task.RUN : Task.VERIFY;
      }
    }
  }

  private final Action<KernelRequest> action;

  @Parameters(index = "0", paramLabel = "FILE", description = "The file of a program in text.")
  Path file = Path.of("");

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "NAME=N",
      description = "Values of scalars, as M=4096; MN=1024 gives two of one letter the same.")
  List<String> assignments = List.of();

  @ArgGroup Tasks tasks = new Tasks();

  @Option(
      names = "--target",
      paramLabel = "T",
      converter = TargetName.Converter.class,
      description = "auto, cpu, sim, sm_75, sm_80, sm_86, sm_89 or sm_90a; default: auto.")
  TargetName target = TargetName.AUTO;

  @Option(
      names = "--schedule",
      paramLabel = "STEPS",
      description =
          "Schedule the file's function first, by steps in text or a trace in JSON; what is run is"
              + " compared with the function as it was.")
  @Nullable Path schedule;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "Write there what --print, --lower, --cuda or --compile make.")
  @Nullable Path out;

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "The first scalar's value, usually the number of rows; default: 64.")
  @Nullable Integer batch;

  @Option(
      names = "--set",
      paramLabel = "NAME=N",
      description = "The value of a scalar; may be given for each.")
  Map<String, Long> values = new TreeMap<>();

  @Option(names = "--seed", paramLabel = "S", description = "The seed of the random data.")
  @Nullable Long seed;

  @Option(
      names = "--attr",
      paramLabel = "NAME=VALUE",
      description = "Another value for an attribute of the kernel, as order=hilbert.")
  Map<String, String> attributes = new TreeMap<>();

  @Option(
      names = "--repeat-check",
      paramLabel = "N",
      description = "With --bench: launch N times in each of three ways, and compare each result.")
  @Nullable Integer repeats;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "With --bench: rounds of timing, at least 5; 0 only verifies; default: 9.")
  @Nullable Integer rounds;

  public KernelCommand(Action<KernelRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    Task task = tasks.task();
    if (batch != null) {
      NetworkOptions.checkRows(batch);
    }
    if (out != null && !WRITING.contains(task)) {
      throw new UserError(
          "--out " + out + ": only --print, --lower, --cuda and --compile write a file");
    }
    if (repeats != null && (task != Task.BENCH || repeats < 1)) {
      throw new UserError("--repeat-check " + repeats + ": needs --bench and a positive number");
    }
    if (rounds != null && (task != Task.BENCH || (rounds != 0 && rounds < 5))) {
      throw new UserError("--rounds " + rounds + ": needs --bench and 0, or 5 and more");
    }
    Map<String, Long> scalars = new TreeMap<>(values);
    assignments.forEach(assignment -> assign(assignment, scalars));
    return action.perform(
        new KernelRequest(
            file,
            task,
            target,
            out,
            batch == null ? OptionalInt.empty() : OptionalInt.of(batch),
            scalars,
            attributes,
            seed == null ? ThreadLocalRandom.current().nextLong() : seed,
            new Timing(rounds == null ? ROUNDS : rounds, repeats == null ? 0 : repeats),
            schedule),
        progress);
  }

  /** Reads {@code M=4096}; in {@code MN=1024} letters share a value. */
  static void assign(String assignment, Map<String, Long> scalars) {
    Matcher matcher = ASSIGNMENT.matcher(assignment);
    if (!matcher.matches()) {
      throw new UserError("'" + assignment + "' is no value of a scalar; write M=4096");
    }
    String name = matcher.group(1);
    List<String> names = SHARED.matcher(name).matches() ? List.of(name.split("")) : List.of(name);
    for (String each : names) {
      if (scalars.put(each, Long.parseLong(matcher.group(2))) != null) {
        throw new UserError("two values for " + each);
      }
    }
  }
}
