package dev.warpwright.cli.run;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

@CommandLine.Command(
    name = "plan",
    description = "Show how a model is fused: groups, strategy, bytes saved, kernels, and why.")
public final class PlanCommand extends Command {
  private final Action<ModelRequest> action;

  @Mixin ModelOptions model = new ModelOptions();

  public PlanCommand(Action<ModelRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    return action.perform(model.request(), progress);
  }
}
