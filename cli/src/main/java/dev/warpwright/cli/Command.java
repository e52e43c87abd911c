package dev.warpwright.cli;

import picocli.CommandLine.Option;

/**
 * A command: its fields are the options, which picocli fills in.
 *
 * <p>Subclasses carry {@code @Command} with the name and description.
 */
abstract class Command {
  @Option(
      names = "--json",
      description = "Print one JSON document on standard output, and nothing else there.")
  boolean json;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Print this help.")
  boolean help;

  /** Checks the options and does what the command is for; throws as {@link Action} says. */
  abstract Report perform(Progress progress);
}
