package dev.warpwright.cli.run;

import dev.warpwright.cli.attention.AttentionPlan;
import dev.warpwright.cli.attention.AttentionTask;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Waiting;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "plan",
    description = {
      "Show how a model is fused: groups, strategy, bytes saved, kernels, and why. Also of networks"
          + " with random weights: 'plan mlp widths=64,64,64 rows=4096', 'plan ffn M=16 D=4096"
          + " H=14336 gated=1 --target sm_90a', and of 'plan attention HQ=32 HKV=8 D=128 S=4096'."
    })
public final class PlanCommand extends Command {
  private final Action<ModelRequest> action;

  @Mixin ModelOptions model = new ModelOptions();

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "KEY=VALUE",
      description =
          "Of mlp, ffn, layer and attention in the model's place: what makes the network, as for"
              + " 'perf'.")
  List<String> arguments = List.of();

  public PlanCommand(Action<ModelRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    ModelRequest request = model.request();
    String what = request.file().toString();
    if (AttentionTask.is(what)) {
      request.refuseSharing();
      return AttentionPlan.plan(AttentionTask.of(arguments), Devices.cudaTarget(request.target()));
    }
    try (Waiting _ = new Waiting(progress, "reading " + what)) {
      request = model.request("plan", arguments);
    }
    return action.perform(request, progress);
  }
}
