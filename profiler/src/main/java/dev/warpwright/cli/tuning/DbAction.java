package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.networks.NetworkFit;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.measure.data.TextFile;
import dev.warpwright.measure.tuning.CalibrationFit;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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
        case FIT -> fit(database, request);
        case PRUNE -> counted("forgotten", database.prune(request.keep()));
      };
    }
  }

  private static Report list(TuningDatabase database) {
    List<TuningDatabase.Summary> summaries = database.summaries();
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%-78s %-8s %-16s %7s %7s %11s",
            "workload",
            "target",
            "device",
            "trials",
            "failed",
            "best us"));
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
    if (isDatabase(file)) {
      throw new UserError(
          file + " is a database, which export would replace by JSON lines; name another file");
    }
    StringWriter lines = new StringWriter();
    try {
      long count = best == 0 ? database.export(lines) : database.exportFastest(lines, best);
      AtomicFile.write(file, out -> out.write(lines.toString().getBytes(StandardCharsets.UTF_8)));
      return counted("exported", count);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether a file is SQLite's, this very one or another. */
  private static boolean isDatabase(Path file) {
    byte[] magic = "SQLite format 3".getBytes(StandardCharsets.US_ASCII);
    if (!Files.isRegularFile(file)) {
      return false;
    }
    try (InputStream in = Files.newInputStream(file)) {
      return Arrays.equals(in.readNBytes(magic.length), magic);
    } catch (IOException e) {
      return false;
    }
  }

  private static long add(TuningDatabase database, Path file) {
    return TextFile.read(file, in -> database.importLines(in, file.toString()));
  }

  private static long merge(TuningDatabase database, Path file) {
    StringWriter lines = new StringWriter();
    try (TuningDatabase other = TuningDatabase.openReadOnly(file)) {
      other.export(lines);
      return database.importLines(
          new BufferedReader(new StringReader(lines.toString())), file.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Report fit(TuningDatabase database, DbRequest request) {
    List<TuningRecord> records = database.all();
    CalibrationFit.Result fit =
        request.model().equals(NetworkFit.MODEL)
            ? NetworkFit.fit(request.device(), records)
            : CalibrationFit.fit(request.model(), request.device(), records);
    Path file = Objects.requireNonNull(request.file());
    byte[] text = fit.calibration().text().getBytes(StandardCharsets.UTF_8);
    AtomicFile.write(file, out -> out.write(text));
    return new Report(
        true,
        String.format(
            Locale.ROOT,
            "%s on %s: %d measurements, off by %.3f before and %.3f after (deviation of the"
                + " logarithm); written to %s",
            request.model(),
            request.device().name(),
            fit.measurements(),
            fit.before(),
            fit.after(),
            file),
        Json.object()
            .with("model", request.model())
            .with("device", request.device().name())
            .with("measurements", fit.measurements())
            .with("before", fit.before())
            .with("after", fit.after())
            .with("file", file.toString()));
  }

  private static Report counted(String what, long count) {
    return new Report(true, count + " records " + what, Json.object().with("records", count));
  }
}
