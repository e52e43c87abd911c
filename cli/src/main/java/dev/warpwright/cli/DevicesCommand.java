package dev.warpwright.cli;

import picocli.CommandLine;

@CommandLine.Command(
    name = "devices",
    description = "List the devices that models can run on here, and what is missing for others.")
final class DevicesCommand extends Command {
  private final Action<DevicesRequest> action;

  DevicesCommand(Action<DevicesRequest> action) {
    this.action = action;
  }

  @Override
  Report perform(Progress progress) {
    return action.perform(new DevicesRequest(), progress);
  }
}
