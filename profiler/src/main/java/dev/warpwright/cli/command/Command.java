package dev.warpwright.cli.command;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import picocli.CommandLine.Option;

/**
 * A command: its fields are the options, which picocli fills in.
 *
 * <p>Subclasses carry {@code @Command} with the name and description.
 */
public abstract class Command {
  @Option(
      names = "--json",
      description = "Print one JSON document on standard output, and nothing else there.")
  public boolean json;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Print this help.")
  boolean help;

  /** Checks the options and does what the command is for; throws as {@link Action} says. */
  public abstract Report perform(Progress progress);
}
