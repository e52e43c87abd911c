package dev.warpwright.cli;

import dev.warpwright.cli.KernelRequest.Task;
import dev.warpwright.ir.UserError;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "kernel",
    description =
        "Parse and verify Kernel text; then print, compile, simulate or run it if asked to.")
final class KernelCommand extends Command {
  /** At most one of these is given. */
  static final class Tasks {
    @Option(names = "--print", description = "Print the text in its canonical form.")
    boolean print;

    @Option(names = "--cuda", description = "Print CUDA C++.")
    boolean cuda;

    @Option(names = "--compile", description = "Compile for the target.")
    boolean compile;

    @Option(names = "--simulate", description = "Run in the simulator, under its sanitizers.")
    boolean simulate;

    @Option(
        names = "--run",
        description = "Run on random data, and verify against the interpreter.")
    boolean run;

    Task task() {
      if (print) {
        return Task.PRINT;
      } else if (cuda) {
        return Task.CUDA;
      } else if (compile) {
        return Task.COMPILE;
      } else if (simulate) {
        return Task.SIMULATE;
      } else {
        return run ? Task.RUN : Task.VERIFY;
      }
    }
  }

  private final Action<KernelRequest> action;

  @Parameters(paramLabel = "FILE", description = "The file of Kernel text.")
  Path file = Path.of("");

  @ArgGroup Tasks tasks = new Tasks();

  @Option(
      names = "--target",
      paramLabel = "T",
      converter = TargetName.Converter.class,
      description = "auto, cpu, sim, sm_75, sm_80, sm_86, sm_89 or sm_90a; default: auto.")
  TargetName target = TargetName.AUTO;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "Write there what --print, --cuda or --compile make.")
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

  KernelCommand(Action<KernelRequest> action) {
    this.action = action;
  }

  @Override
  Report perform(Progress progress) {
    Task task = tasks.task();
    if (batch != null && batch < 1) {
      throw new UserError("--batch " + batch + ": the number of rows must be at least 1");
    }
    boolean writes = task == Task.PRINT || task == Task.CUDA || task == Task.COMPILE;
    if (out != null && !writes) {
      throw new UserError("--out " + out + ": only --print, --cuda and --compile write a file");
    }
    return action.perform(
        new KernelRequest(
            file,
            task,
            target,
            out,
            batch == null ? OptionalInt.empty() : OptionalInt.of(batch),
            values,
            seed == null ? ThreadLocalRandom.current().nextLong() : seed),
        progress);
  }
}
