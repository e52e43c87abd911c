package dev.warpwright.cli.devices;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import picocli.CommandLine;

@CommandLine.Command(
    name = "devices",
    description = "List the devices that models can run on here, and what is missing for others.")
public final class DevicesCommand extends Command {
  private final Action<DevicesRequest> action;

  public DevicesCommand(Action<DevicesRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    return action.perform(new DevicesRequest(), progress);
  }
}
