package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.GemmWorkload;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "explain",
    description = {
      "What each decision behind a product's kernel is worth: 'explain gemm MNK=4096' switches"
          + " every one of them off or changes it, one at a time, and tabulates time, traffic, bank"
          + " conflicts and registers.",
      "",
      "Times are measured on the GPU here; where there is none they are predicted, and marked so."
          + " KEY=VALUE as for 'tune'."
    })
public final class ExplainCommand extends Command {
  private final Action<ExplainRequest> action;

  @Parameters(index = "0", arity = "0..1", paramLabel = "WHAT", description = "gemm.")
  String what = "";

  @Parameters(index = "1..*", arity = "0..*", paramLabel = "KEY=VALUE", description = "See above.")
  List<String> arguments = List.of();

  @Option(names = "--db", paramLabel = "FILE", description = "The tuning database.")
  @Nullable Path database;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "DIR",
      description = "Where the winner's folder is: explain.json goes there too.")
  @Nullable Path folder;

  @Option(
      names = "--device",
      paramLabel = "NAME",
      description = "Predict for this device, as 'A100', and measure nothing.")
  @Nullable String device;

  @Option(names = "--untuned", description = "Explain the analytic model's choice.")
  boolean untuned;

  public ExplainCommand(Action<ExplainRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    if (!what.equals("gemm")) {
      throw new UserError(
          what.isEmpty()
              ? "nothing to explain; write 'explain gemm MNK=4096'"
              : "'" + what + "' cannot be explained; what can is gemm");
    }
    KeyValues values = new KeyValues(arguments);
    GemmWorkload workload = GemmArguments.read(values);
    values.finish(GemmArguments.KEYS);
    return action.perform(
        new ExplainRequest(workload, TuningFiles.database(database), model(), folder, untuned),
        progress);
  }

  private @Nullable DeviceModel model() {
    return device == null ? null : DeviceCatalogue.withCode("--device", device);
  }
}
