package dev.warpwright.cli;

import dev.warpwright.ir.UserError;
import java.nio.file.Path;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@CommandLine.Command(
    name = "run",
    description = "Compile a model into fused kernels, run it, and verify the output.")
final class RunCommand extends Command {
  private final Action<RunRequest> action;

  @Mixin ModelOptions model = new ModelOptions();

  @Option(names = "--input", paramLabel = "X.npy", description = "The input; default: random data.")
  @Nullable Path input;

  @Option(
      names = "--expect",
      paramLabel = "Y.npy",
      description = "The right output; default: what the reference interpreter computes.")
  @Nullable Path expect;

  @Option(names = "--out", paramLabel = "Y.npy", description = "Write the output there.")
  @Nullable Path out;

  @Option(
      names = "--rtol",
      paramLabel = "R",
      description =
          "The greatest |out-ref|/|ref|; default: 3e-6 for f32, 2e-3 for tf32, 4e-3 for f16,"
              + " 2e-2 for bf16.")
  @Nullable Double relative;

  @Option(
      names = "--atol",
      paramLabel = "A",
      description = "The greatest absolute error of an element; default: not checked.")
  @Nullable Double absolute;

  RunCommand(Action<RunRequest> action) {
    this.action = action;
  }

  @Override
  Report perform(Progress progress) {
    return action.perform(
        new RunRequest(
            model.request(),
            input,
            expect,
            out,
            tolerance("--rtol", relative),
            tolerance("--atol", absolute)),
        progress);
  }

  private static OptionalDouble tolerance(String option, @Nullable Double value) {
    if (value == null) {
      return OptionalDouble.empty();
    }
    if (!(value >= 0) || value.isInfinite()) {
      throw new UserError(option + " " + value + ": a tolerance must be a number from 0 on");
    }
    return OptionalDouble.of(value);
  }
}
