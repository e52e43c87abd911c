package dev.warpwright.cli.explore;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.tuning.TuningFiles;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

@CommandLine.Command(
    name = "explore",
    description = {
      "A page to play with: orders of tiles, caches, devices, rooflines, kernels.",
      "It is served on this machine only and needs no network; Ctrl-C ends it."
    })
public final class ExploreCommand extends Command {
  private static final int DEFAULT_PORT = 8137;

  private final Action<ExploreRequest> action;

  @Option(
      names = "--port",
      paramLabel = "N",
      description = "Where to listen; 0 for any free port; default: 8137.")
  int port = DEFAULT_PORT;

  @Option(
      names = "--kernels",
      paramLabel = "FOLDER",
      description = "Kernels in text to show; default: kernels.")
  Path kernels = Path.of("kernels");

  @Option(names = "--db", paramLabel = "FILE", description = "The tuning database.")
  @Nullable Path database;

  public ExploreCommand(Action<ExploreRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    return action.perform(
        new ExploreRequest(port, kernels, TuningFiles.database(database)), progress);
  }
}
