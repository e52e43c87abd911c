package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.target.DeviceCatalogue;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "db",
    description = {
      "Look into the tuning database, or change it:",
      "list: workloads, trials and best times; export FILE, import FILE: records as JSON lines;"
          + " merge FILE: the records of another database; prune: keep the fastest only; stale:"
          + " which records were made with another source, driver or compiler than today's;"
          + " refresh: verify and time those again on the GPU here; fit FILE: fit the numbers of a"
          + " time model to what was measured and write them to a file."
    })
public final class DbCommand extends Command {
  private final Action<DbRequest> action;

  @Parameters(
      index = "0",
      paramLabel = "TASK",
      description = "list, export, import, merge, prune, stale, refresh or fit.")
  String task = "";

  @Parameters(index = "1", arity = "0..1", paramLabel = "FILE", description = "See above.")
  @Nullable Path file;

  @Option(names = "--db", paramLabel = "FILE", description = "The tuning database.")
  @Nullable Path database;

  @Option(
      names = "--keep",
      paramLabel = "N",
      description =
          "With prune: records to keep of each workload and environment; with stale and refresh:"
              + " so many of the fastest are looked at; default: 10.")
  int keep = 10;

  @Option(
      names = "--best",
      paramLabel = "N",
      description = "With export: only the N fastest of each workload and device.")
  int best;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "With refresh: begin nothing more after so many seconds; default: 480.")
  double seconds = 480;

  @Option(
      names = "--model",
      paramLabel = "M",
      description =
          "With fit: wgmma, mma, simt or streamed of GEMMs, or chains of networks; default: wgmma.")
  String model = "wgmma";

  @Option(
      names = "--arch",
      paramLabel = "A",
      description = "With fit: the device, as analyze knows it; default: H200 SXM.")
  String device = "H200 SXM";

  public DbCommand(Action<DbRequest> action) {
    this.action = action;
  }

  @Override
  public Report perform(Progress progress) {
    DbRequest.Task what;
    try {
      what = DbRequest.Task.valueOf(task.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new UserError(
          "db " + task + ": it is list, export, import, merge, prune, stale, refresh or fit");
    }
    boolean needsFile =
        switch (what) {
          case EXPORT, IMPORT, MERGE, FIT -> true;
          case LIST, PRUNE, STALE, REFRESH -> false;
        };
    if (needsFile == (file == null)) {
      throw new UserError(
          needsFile ? "db " + task + " needs a file" : "db " + task + " takes no file: " + file);
    }
    if (keep < 1) {
      throw new UserError("--keep " + keep + ": at least 1");
    }
    if (best < 0) {
      throw new UserError("--best " + best + ": at least 1");
    }
    if (!(seconds > 0)) {
      throw new UserError("--seconds " + seconds + ": more than 0");
    }
    return action.perform(
        new DbRequest(
            what,
            TuningFiles.database(database),
            file,
            keep,
            best,
            seconds,
            model,
            DeviceCatalogue.withCode("--arch", device)),
        progress);
  }
}
