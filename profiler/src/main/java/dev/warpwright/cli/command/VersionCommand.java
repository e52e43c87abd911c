package dev.warpwright.cli.command;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import picocli.CommandLine;

@CommandLine.Command(name = "version", description = "Print the version.")
public final class VersionCommand extends Command {
  @Override
  public Report perform(Progress progress) {
    return Version.current().report();
  }
}
