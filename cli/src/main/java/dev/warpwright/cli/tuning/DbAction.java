package dev.warpwright.cli.tuning;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.TextFile;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.json.Json;
import dev.warpwright.tune.record.TuningDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** Looks into the tuning database, or changes it. */
public final class DbAction implements Action<DbRequest> {
  private final RefreshAction refresh;

  public DbAction() {
    this(new RefreshAction());
  }

  DbAction(RefreshAction refresh) {
    this.refresh = refresh;
  }

  @Override
  public Report perform(DbRequest request, Progress progress) {
    try (TuningDatabase database = TuningStore.open(request.database(), progress)) {
      return switch (request.task()) {
        case LIST -> list(database);
        case EXPORT -> export(database, Objects.requireNonNull(request.file()), request.best());
        case STALE -> refresh.list(database, request.keep(), progress);
        case REFRESH -> refresh.refresh(database, request.keep(), request.seconds(), progress);
        case IMPORT -> counted("imported", add(database, Objects.requireNonNull(request.file())));
        case MERGE -> counted("merged", merge(database, Objects.requireNonNull(request.file())));
        case PRUNE -> counted("forgotten", database.prune(request.keep()));
      };
    }
  }

  private static Report list(TuningDatabase database) {
    List<TuningDatabase.Summary> summaries = database.summaries();
    List<String> lines = new ArrayList<>();
    lines.add(
        "%-78s %-8s %-16s %7s %7s %11s"
            .formatted("workload", "target", "device", "trials", "failed", "best us"));
    for (TuningDatabase.Summary s : summaries) {
      lines.add(
          String.format(
              Locale.ROOT,
              "%-78s %-8s %-16s %7d %7d %11s",
              OneLine.of(s.workload()),
              OneLine.of(s.target()),
              OneLine.of(s.device()),
              s.trials(),
              s.failures(),
              Double.isNaN(s.bestUs()) ? "-" : String.format(Locale.ROOT, "%.2f", s.bestUs())));
    }
    String text =
        summaries.isEmpty()
            ? database.file() + " holds no records"
            : String.join(System.lineSeparator(), lines);
    return new Report(
        true,
        text,
        Json.object()
            .with("database", database.file().toString())
            .with(
                "workloads",
                Json.array(
                    summaries,
                    s ->
                        Json.object()
                            .with("workload", s.workload())
                            .with("target", s.target())
                            .with("device", s.device())
                            .with("trials", s.trials())
                            .with("failures", s.failures())
                            .with("bestUs", s.bestUs()))));
  }

  private static Report export(TuningDatabase database, Path file, int best) {
    try (Writer out = Files.newBufferedWriter(file)) {
      return counted(
          "exported", best == 0 ? database.export(out) : database.exportFastest(out, best));
    } catch (IOException e) {
      throw new UserError("cannot write " + file + " (" + e.getClass().getSimpleName() + ")");
    }
  }

  private static long add(TuningDatabase database, Path file) {
    return TextFile.read(file, in -> database.importLines(in, file.toString()));
  }

  private static long merge(TuningDatabase database, Path file) {
    if (!Files.isRegularFile(file)) {
      throw new UserError(file + ": no such file");
    }
    StringWriter lines = new StringWriter();
    try (TuningDatabase other = TuningDatabase.open(file)) {
      other.export(lines);
      return database.importLines(
          new BufferedReader(new StringReader(lines.toString())), file.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Report counted(String what, long count) {
    return new Report(true, count + " records " + what, Json.object().with("records", count));
  }
}
