package dev.warpwright.cli;

import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "export",
    description = {
      "Write a kernel as CUDA C++ with a host program that runs, checks and times it; nvcc alone"
          + " compiles them.",
      "",
      "KEY=VALUE: the shape of a rung, 4096 unless given (MNK=4096 or MN=1024 K=2048), or values of"
          + " the kernel's scalars."
    })
final class ExportCommand extends Command {
  private final Action<ExportRequest> action;

  @Parameters(
      index = "0",
      paramLabel = "WHAT",
      description = "ladder:RUNG, for example ladder:warp-tiles, or a file of one kernel in text.")
  String what = "";

  @Parameters(index = "1..*", arity = "0..*", paramLabel = "KEY=VALUE", description = "See above.")
  List<String> arguments = List.of();

  @Option(
      names = {"-o", "--out"},
      paramLabel = "DIR",
      required = true,
      description = "Where the files go.")
  Path folder = Path.of(".");

  @Option(names = "--target", paramLabel = "T", description = "The GPU: ${COMPLETION-CANDIDATES}.")
  TargetName target = TargetName.AUTO;

  ExportCommand(Action<ExportRequest> action) {
    this.action = action;
  }

  @Override
  Report perform(Progress progress) {
    return action.perform(
        new ExportRequest(what, new KeyValues(arguments).numbers(), folder, target), progress);
  }
}
