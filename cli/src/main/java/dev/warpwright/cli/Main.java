package dev.warpwright.cli;

import java.io.PrintStream;
import java.util.List;

/** Entry point of the {@code warpwright} command. */
public final class Main {
  private Main() {}

  /** Runs the command and exits with its code. */
  public static void main(String[] args) {
    System.setOut(Streams.out());
    System.setErr(Streams.err());
    System.exit(execute(System.out, System.err, args));
  }

  /** Runs a command line; the result is one of {@link ExitCode}. */
  static int execute(PrintStream out, PrintStream err, String... args) {
    // Scripts ask for the version to see whether there is a Warpwright: it needs no parser.
    if (args.length == 1 && (args[0].equals("version") || args[0].equals("--version"))) {
      Cli.print(out, Version.current().report(), false);
      return out.checkError() ? ExitCode.USAGE : ExitCode.OK;
    }
    return new Cli(out, err, commands()).execute(args);
  }

  private static List<Command> commands() {
    return List.of(
        new RunCommand(new RunAction()),
        new PlanCommand(new PlanAction()),
        new KernelCommand(new KernelAction()),
        new CheckCommand(new CheckAction()),
        new TuneCommand(new TuneAction()),
        new PerfCommand(new PerfAction()),
        new DbCommand(new DbAction()),
        new OrderCommand(new OrderAction()),
        new AnalyzeCommand(new AnalyzeAction()),
        new ExploreCommand(new ExploreAction()),
        new LadderCommand(new LadderAction()),
        new ExportCommand(new ExportAction()),
        new DevicesCommand(new DevicesAction()),
        new VersionCommand());
  }
}
