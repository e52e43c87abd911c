package dev.warpwright.cli.accept;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.tuning.TuningFiles;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "accept",
    hidden = true,
    description = {
      "Measure figures of GEMMs on the GPU here and say of each whether it is reached: 'accept"
          + " bench/acceptance.txt'. A figure with draw=N draws its GEMMs by the seed, and takes"
          + " the analytic model's kernels for them, as if nothing had been recorded."
    })
public final class AcceptCommand extends Command {
  private final Action<AcceptRequest> action;

  @Parameters(index = "0", paramLabel = "FILE", description = "The figures.")
  @Nullable Path file;

  @Option(names = "--db", paramLabel = "FILE", description = "The tuning database.")
  @Nullable Path database;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Begin nothing more after so many seconds; default: 480.")
  double seconds = 480;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Of the GEMMs that are drawn; default: the date, as 20261123.")
  @Nullable Long seed;

  public AcceptCommand(Action<AcceptRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    if (!(seconds > 0)) {
      throw new UserError("--seconds " + seconds + ": more than 0");
    }
    if (file == null) {
      throw new UserError("no file of figures; 'accept bench/acceptance.txt'");
    }
    long drawn =
        seed != null
            ? seed
            : Long.parseLong(
                LocalDate.now(ZoneOffset.UTC).format(DateTimeFormatter.BASIC_ISO_DATE));
    return action.perform(
        new AcceptRequest(
            AcceptanceFigure.read(file, drawn), drawn, TuningFiles.database(database), seconds),
        progress);
  }
}
