package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.attention.AttentionPlan;
import dev.warpwright.cli.attention.AttentionTask;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.networks.NetworkExplainRequest;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
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
      "What each decision behind a GEMM's kernel is worth: 'explain gemm MNK=4096' switches"
          + " every one of them off or changes it, one at a time, and tabulates time, traffic, bank"
          + " conflicts and registers. 'explain mlp widths=64,64,64 dtype=f16 rows=65536' and"
          + " 'explain MODEL' tabulate the ways to fuse a whole network.",
      "",
      "Times are measured on the GPU here; where there is none they are predicted, and marked so."
          + " KEY=VALUE as for 'perf'."
    })
public final class ExplainCommand extends Command {
  private final Action<ExplainRequest> action;
  private final Action<NetworkExplainRequest> networks;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "WHAT",
      description = "gemm, mlp, ffn, layer, attention (always predicted) or a model's file.")
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

  @Option(
      names = "--arch",
      paramLabel = "A",
      description = "The architecture of a file of weights without a graph, as 'run' takes it.")
  @Nullable String arch;

  public ExplainCommand(Action<ExplainRequest> action, Action<NetworkExplainRequest> networks) {
    this.action = action;
    this.networks = networks;
  }

  @Override
  public Report perform(Progress progress) {
    if (what.isEmpty()) {
      throw new UserError("nothing to explain; write 'explain gemm MNK=4096'");
    }
    if (AttentionTask.is(what)) {
      DeviceModel model = model();
      return AttentionPlan.explain(
          AttentionTask.of(arguments),
          model == null ? AttentionTask.device(GpuTarget.SM_90A) : model);
    }
    KeyValues values = new KeyValues(arguments);
    if (NetworkTask.isNetwork(what)) {
      NetworkTask network = NetworkTask.of(what, values, arch);
      values.finish(NetworkTask.keys(what));
      return networks.perform(new NetworkExplainRequest(network, model()), progress);
    }
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
