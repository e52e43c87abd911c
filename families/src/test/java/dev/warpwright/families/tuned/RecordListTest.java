package dev.warpwright.families.tuned;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.RecordList;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.workload.WorkloadKey;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Applications look records up in a list, the tuner in SQLite: both answer the same. */
class RecordListTest {
  private static final String DEVICE = "NVIDIA H200";

  @Test
  void aListAnswersAsADatabaseDoes() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      ShippedRecords.addTo(database);
      assertSame(ShippedRecords.records(), database, database.all());
    }
  }

  /** Measured again on the same and on another device, later but slower, and failed since. */
  @Test
  void soDoesOneOfRecordsThatWereMeasuredAgain() {
    List<TuningRecord> records = new ArrayList<>();
    try (TuningDatabase shipped = TuningDatabase.inMemory()) {
      ShippedRecords.addTo(shipped);
      records.addAll(shipped.all().subList(0, 40));
    }
    for (int i = 0; i < 40; i++) {
      TuningRecord r = records.get(i);
      Environment e = r.environment();
      String device = i % 3 == 0 ? DEVICE : "Another";
      records.add(
          new TuningRecord(
              r.workload(),
              new Environment(e.target(), device, "12.9", e.toolkit(), e.generator()),
              r.point(),
              r.sourceHash(),
              again(r.outcome(), i),
              r.at().plusSeconds(i % 4 - 1)));
    }
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      records.forEach(database::add);
      assertSame(new RecordList(database.all()), database, database.all());
    }
  }

  /** No two times are equal: which of two equals is the fastest, a database does not say. */
  private static Outcome again(Outcome outcome, int i) {
    return i % 5 != 0 && outcome instanceof Outcome.Measured m
        ? new Outcome.Measured(
            m.timeUs() * (0.9 + 0.011 * i), m.spread(), m.relError(), m.clockMhz(), m.temperature())
        : new Outcome.Failed(FailureReason.WRONG, "wrong since");
  }

  private static void assertSame(
      RecordList list, TuningDatabase database, List<TuningRecord> records) {
    assertThat(records).hasSizeGreaterThan(50);
    List<WorkloadKey> workloads = records.stream().map(TuningRecord::workload).distinct().toList();
    // Some, for the database takes milliseconds to answer.
    for (int i = 0; i < workloads.size(); i += Math.max(1, workloads.size() / 12)) {
      WorkloadKey workload = workloads.get(i);
      for (String target : List.of("sm_90a", "sm_80")) {
        assertThat(list.tried(workload, target)).isEqualTo(database.tried(workload, target));
        for (String device : List.of(DEVICE, "Another", "")) {
          assertThat(list.best(workload, target, device))
              .as("%s on %s", workload, device)
              .isEqualTo(database.best(workload, target, device));
        }
      }
    }
    WorkloadKey some = workloads.getFirst();
    assertThat(list.nearest(some, "sm_90a", 8)).isEqualTo(database.nearest(some, "sm_90a", 8));
  }

  @Test
  void aLineThatIsNoRecordIsNamed() {
    assertThatThrownBy(() -> RecordList.parse("\n{\"outcome\":\"ok\"}", "mine.jsonl"))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith("mine.jsonl, line 2: workload is missing");
  }
}
