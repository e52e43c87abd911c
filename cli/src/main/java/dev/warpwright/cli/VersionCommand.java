package dev.warpwright.cli;

import picocli.CommandLine;

@CommandLine.Command(name = "version", description = "Print the version.")
final class VersionCommand extends Command {
  @Override
  Report perform(Progress progress) {
    return Version.current().report();
  }
}
