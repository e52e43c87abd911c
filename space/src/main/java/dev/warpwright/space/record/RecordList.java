package dev.warpwright.space.record;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.JsonFields;
import dev.warpwright.base.json.JsonParser;
import dev.warpwright.space.Point;
import dev.warpwright.workload.WorkloadKey;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Records in memory, read from the JSON lines that {@link TuningDatabase#export} writes: for
 * applications, which have no SQLite. It answers as a database with the same records does.
 */
public final class RecordList implements KnownRecords {
  private final List<TuningRecord> records;

  /**
   * Keeps records in memory.
   *
   * @param records oldest first
   */
  public RecordList(List<TuningRecord> records) {
    this.records = List.copyOf(records);
  }

  /**
   * Reads JSON lines.
   *
   * @param text a record a line
   * @param name of the source, for messages
   * @return the records, oldest first
   * @throws UserError that names the first line that is no record
   */
  public static RecordList parse(String text, String name) {
    List<TuningRecord> records = new ArrayList<>();
    int number = 0;
    for (String line : text.lines().toList()) {
      number++;
      if (!line.isBlank()) {
        records.add(record(line, name + ", line " + number));
      }
    }
    return new RecordList(records);
  }

  private static TuningRecord record(String line, String where) {
    try {
      JsonFields fields = JsonFields.of(where, JsonParser.parse(where, line));
      String outcome = fields.text("outcome");
      return new TuningRecord(
          WorkloadKey.parse(fields.text("workload")),
          new Environment(
              fields.text("target"),
              fields.text("device"),
              fields.text("driver"),
              fields.text("toolkit"),
              fields.text("generator")),
          Point.parse(fields.text("point")),
          fields.text("source"),
          outcome.equals("ok")
              ? new Outcome.Measured(
                  fields.number("time_us"),
                  fields.number("spread"),
                  fields.number("error"),
                  (int) fields.integer("clock_mhz"),
                  (int) fields.integer("temperature"))
              : new Outcome.Failed(FailureReason.parse(outcome), fields.text("message")),
          Instant.parse(fields.text("at")));
    } catch (IllegalArgumentException | DateTimeException e) {
      throw new UserError(where + ": no tuning record (" + e.getMessage() + ")", e);
    }
  }

  @Override
  public List<TuningRecord> tried(WorkloadKey workload, String target) {
    return of(target).filter(record -> record.workload().equals(workload)).toList();
  }

  @Override
  public Optional<TuningRecord> best(WorkloadKey workload, String target, String device) {
    return latest(of(target).filter(record -> record.workload().equals(workload))).stream()
        .filter(record -> record.outcome() instanceof Outcome.Measured)
        .min(
            Comparator.comparing((TuningRecord r) -> !r.environment().device().equals(device))
                .thenComparing(RecordList::micros));
  }

  @Override
  public List<TuningRecord> nearest(WorkloadKey workload, String target, int count) {
    Map<WorkloadKey, TuningRecord> fastest = new LinkedHashMap<>();
    for (TuningRecord record :
        latest(of(target).filter(r -> r.workload().kind().equals(workload.kind())))) {
      if (record.outcome() instanceof Outcome.Measured) {
        fastest.merge(record.workload(), record, (a, b) -> micros(b) < micros(a) ? b : a);
      }
    }
    // In the order of the list where workloads are equally near.
    return records.stream()
        .filter(record -> fastest.get(record.workload()) == record)
        .filter(record -> Double.isFinite(record.workload().distance(workload)))
        .sorted(Comparator.comparingDouble(record -> record.workload().distance(workload)))
        .limit(count)
        .toList();
  }

  private Stream<TuningRecord> of(String target) {
    return records.stream().filter(record -> record.environment().target().equals(target));
  }

  private record Where(WorkloadKey workload, String device, Point point) {}

  /** Without the records of points that were measured again later on a device of that name. */
  private static Collection<TuningRecord> latest(Stream<TuningRecord> of) {
    Map<Where, TuningRecord> latest = new LinkedHashMap<>();
    of.forEach(
        record ->
            latest.merge(
                new Where(record.workload(), record.environment().device(), record.point()),
                record,
                (a, b) -> b.at().isBefore(a.at()) ? a : b));
    return latest.values();
  }

  private static double micros(TuningRecord record) {
    return record.outcome() instanceof Outcome.Measured measured
        ? measured.timeUs()
        : Double.POSITIVE_INFINITY;
  }

  /** Nothing is open. */
  @Override
  public void close() {}
}
