package dev.warpwright.families.tuned;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.tune.record.Environment;
import dev.warpwright.tune.record.RecordList;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.record.TuningRecord;
import dev.warpwright.workload.WorkloadKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
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
              i % 5 == 0 ? records.get(39 - i % 39).outcome() : r.outcome(),
              r.at().plusSeconds(i % 4 - 1)));
    }
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      records.forEach(database::add);
      assertSame(new RecordList(database.all()), database, database.all());
    }
  }

  private static void assertSame(
      RecordList list, TuningDatabase database, List<TuningRecord> records) {
    assertThat(records).hasSizeGreaterThan(50);
    Set<WorkloadKey> workloads =
        records.stream().map(TuningRecord::workload).collect(Collectors.toSet());
    for (WorkloadKey workload : workloads) {
      for (String target : List.of("sm_90a", "sm_80")) {
        assertThat(list.tried(workload, target)).isEqualTo(database.tried(workload, target));
        for (String device : List.of(DEVICE, "Another", "")) {
          assertThat(list.best(workload, target, device))
              .as("%s on %s", workload, device)
              .isEqualTo(database.best(workload, target, device));
        }
      }
    }
    WorkloadKey some = workloads.iterator().next();
    assertThat(list.nearest(some, "sm_90a", 8)).isEqualTo(database.nearest(some, "sm_90a", 8));
  }

  @Test
  void aLineThatIsNoRecordIsNamed() {
    assertThatThrownBy(() -> RecordList.parse("\n{\"outcome\":\"ok\"}", "mine.jsonl"))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith("mine.jsonl, line 2: workload is missing");
  }
}
