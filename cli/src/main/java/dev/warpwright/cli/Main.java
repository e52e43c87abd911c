package dev.warpwright.cli;

import dev.warpwright.cli.accept.AcceptAction;
import dev.warpwright.cli.accept.AcceptCommand;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.command.Version;
import dev.warpwright.cli.command.VersionCommand;
import dev.warpwright.cli.devices.DevicesAction;
import dev.warpwright.cli.devices.DevicesCommand;
import dev.warpwright.cli.explore.ExploreAction;
import dev.warpwright.cli.explore.ExploreCommand;
import dev.warpwright.cli.export.ExportAction;
import dev.warpwright.cli.export.ExportCommand;
import dev.warpwright.cli.export.ShapesAction;
import dev.warpwright.cli.export.ShapesCommand;
import dev.warpwright.cli.fusion.NetworkExplain;
import dev.warpwright.cli.fusion.NetworkPerf;
import dev.warpwright.cli.fusion.NetworkTune;
import dev.warpwright.cli.jobs.JobFolder;
import dev.warpwright.cli.jobs.JobsAction;
import dev.warpwright.cli.jobs.JobsCommand;
import dev.warpwright.cli.kernels.CheckCommand;
import dev.warpwright.cli.kernels.KernelCommand;
import dev.warpwright.cli.ladder.LadderAction;
import dev.warpwright.cli.ladder.LadderCommand;
import dev.warpwright.cli.manual.CompletionCommand;
import dev.warpwright.cli.manual.ManualCommand;
import dev.warpwright.cli.orders.AnalyzeAction;
import dev.warpwright.cli.orders.AnalyzeCommand;
import dev.warpwright.cli.orders.MeasureAction;
import dev.warpwright.cli.orders.OrderAction;
import dev.warpwright.cli.orders.OrderCommand;
import dev.warpwright.cli.output.Streams;
import dev.warpwright.cli.program.FunctionTune;
import dev.warpwright.cli.program.OwnCheck;
import dev.warpwright.cli.program.ProgramAction;
import dev.warpwright.cli.run.ParallelPerf;
import dev.warpwright.cli.run.PlanAction;
import dev.warpwright.cli.run.PlanCommand;
import dev.warpwright.cli.run.RunAction;
import dev.warpwright.cli.run.RunCommand;
import dev.warpwright.cli.tuning.DbAction;
import dev.warpwright.cli.tuning.DbCommand;
import dev.warpwright.cli.tuning.ExplainAction;
import dev.warpwright.cli.tuning.ExplainCommand;
import dev.warpwright.cli.tuning.PerfAction;
import dev.warpwright.cli.tuning.PerfCommand;
import dev.warpwright.cli.tuning.TuneAction;
import dev.warpwright.cli.tuning.TuneCommand;
import dev.warpwright.cli.tuning.TuningDevice;
import java.io.PrintStream;
import java.util.List;

/** Entry point of the {@code warpwright} command. */
public final class Main {
  private Main() {}

  /** Runs the command and exits with its code. */
  public static void main(String[] args) {
    int code = ExitCode.DEVICE;
    try {
      System.setOut(Streams.out());
      System.setErr(Streams.err());
      code = execute(System.out, System.err, args);
      if (System.getProperty(JobFolder.FOLDER) != null) {
        JobFolder.ended(code);
      }
    } catch (Throwable e) {
      // Java would end with 1, which says that a result is wrong. Where memory ends even before a
      // command begins, or while it is reported, there is little left to say it with.
      System.err.println("warpwright: Java failed: " + e);
    } finally {
      Runtime.getRuntime().exit(code);
    }
  }

  /** Runs a command line; the result is one of {@link ExitCode}. */
  public static int execute(PrintStream out, PrintStream err, String... args) {
    // Scripts ask for the version to see whether there is a Warpwright: it needs no parser.
    if (args.length == 1 && (args[0].equals("version") || args[0].equals("--version"))) {
      Cli.print(out, Version.current().report(), false);
      return Cli.written(out, err, ExitCode.OK);
    }
    return new Cli(out, err, commands()).execute(args);
  }

  private static List<Command> commands() {
    return List.of(
        new RunCommand(new RunAction()),
        new PlanCommand(new PlanAction()),
        new KernelCommand(new ProgramAction()),
        new CheckCommand(new OwnCheck()),
        new TuneCommand(new TuneAction(), new NetworkTune(), new FunctionTune(), Main::jobs),
        new PerfCommand(new PerfAction(), new ParallelPerf(new NetworkPerf())),
        new ExplainCommand(new ExplainAction(), new NetworkExplain()),
        new AcceptCommand(new AcceptAction()),
        new DbCommand(new DbAction()),
        new JobsCommand(
            (request, progress) -> new JobsAction(JobFolder.ofUser()).perform(request, progress)),
        new OrderCommand(new OrderAction(), new MeasureAction()),
        new AnalyzeCommand(new AnalyzeAction()),
        new ExploreCommand(new ExploreAction()),
        new LadderCommand(new LadderAction()),
        new ExportCommand(new ExportAction()),
        new ShapesCommand(new ShapesAction()),
        new DevicesCommand(new DevicesAction()),
        new CompletionCommand(),
        new ManualCommand(),
        new VersionCommand());
  }

  /** Where jobs are kept; refused where a job would fail for want of a GPU, and nobody looks. */
  private static JobFolder jobs() {
    TuningDevice.find();
    return JobFolder.ofUser();
  }
}
