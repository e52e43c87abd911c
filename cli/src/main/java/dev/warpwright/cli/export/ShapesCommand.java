package dev.warpwright.cli.export;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.target.GpuTarget;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

@CommandLine.Command(
    name = "shapes",
    hidden = true,
    description = {
      "Export and compile the kernels of GEMMs of random shapes, and tell which are refused or"
          + " spill; simulate them at reduced sizes; or list such GEMMs for 'perf --file'."
    })
public final class ShapesCommand extends Command {
  private static final int MOST = 100_000;

  private final Action<ShapesRequest> action;

  @Option(names = "--count", paramLabel = "N", description = "How many GEMMs; default: 100.")
  int count = 100;

  @Option(names = "--seed", paramLabel = "S", description = "Default: the date, as 20261123.")
  @Nullable Long seed;

  @Option(names = "--list", description = "Only list them, a task for 'perf --file' on each line.")
  boolean list;

  @Option(
      names = "--target",
      paramLabel = "T",
      split = ",",
      description = "The GPUs to compile for; default: sm_90a,sm_80.")
  List<String> targets = List.of("sm_90a", "sm_80");

  @Option(
      names = "--simulate",
      description = {
        "Also run each kernel's configuration in the simulator, under its sanitizers and compared"
            + " with a reference, on a smaller GEMM with the same remainders and alignment."
      })
  boolean simulate;

  @Option(
      names = "--no-compile",
      description = "Compile nothing, take the first choices: where there is no compiler.")
  boolean uncompiled;

  @Option(names = "--jobs", paramLabel = "N", description = "At a time; default: as many as cores.")
  int jobs = Runtime.getRuntime().availableProcessors();

  public ShapesCommand(Action<ShapesRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    if (count < 1 || count > MOST) {
      throw new UserError("--count " + count + ": it is 1 to " + MOST);
    }
    if (jobs < 1) {
      throw new UserError("--jobs " + jobs + ": at least 1");
    }
    if (uncompiled && !simulate && !list) {
      throw new UserError("--no-compile: without --simulate nothing is done with the kernels");
    }
    List<GpuTarget> gpus = new ArrayList<>();
    for (String name : targets) {
      gpus.add(
          GpuTarget.find(name)
              .orElseThrow(
                  () ->
                      new UserError(
                          "--target " + name + ": it is sm_75, sm_80, sm_86, sm_89 or sm_90a")));
    }
    return action.perform(
        new ShapesRequest(
            seed == null ? today() : seed, count, list, gpus, !uncompiled, simulate, jobs),
        progress);
  }

  /** The date as a number: {@code 20261123}. */
  static long today() {
    LocalDate date = LocalDate.now(ZoneOffset.UTC);
    return date.getYear() * 10_000L + date.getMonthValue() * 100L + date.getDayOfMonth();
  }
}
