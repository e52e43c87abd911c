package dev.warpwright.cli;

import picocli.CommandLine;
import picocli.CommandLine.Mixin;

@CommandLine.Command(
    name = "plan",
    description = "Show how a model is fused: groups, strategy, bytes saved, kernels, and why.")
final class PlanCommand extends Command {
  private final Action<ModelRequest> action;

  @Mixin ModelOptions model = new ModelOptions();

  PlanCommand(Action<ModelRequest> action) {
    this.action = action;
  }

  @Override
  Report perform(Progress progress) {
    return action.perform(model.request(), progress);
  }
}
