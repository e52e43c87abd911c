package dev.warpwright.cli.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.cli.output.Report;
import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionKernels;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** A search over attention's ways on the fake GPU: what is said and kept, and when. */
@Isolated("takes the driver's place in this process")
class AttentionTuneTest {
  private static final List<String> TASK =
      List.of("B=2", "HQ=4", "HKV=2", "D=16", "S=37", "dtype=f16");
  private static final List<String> SPACE =
      List.of("rows=16", "keys=16", "splits=1,2", "threads=32", "stages=2", "combine=launch");
  private static final AttentionConfig WHOLE = new AttentionConfig(16, 16, 1, 32, 2);
  private static final AttentionConfig PARTS = new AttentionConfig(16, 16, 2, 32, 2);
  private static final Environment HERE = new Environment("sm_80", FakeGpu.NAME, "1", "2", "3");

  private final FakeGpu gpu = FakeGpu.install();
  private final List<String> said = new ArrayList<>();
  private final TuningDatabase database = TuningDatabase.inMemory();

  @AfterEach
  void close() {
    database.close();
    gpu.close();
  }

  private static AttentionSearch search(boolean restricted) {
    List<String> arguments = new ArrayList<>(TASK);
    if (restricted) {
      arguments.addAll(SPACE);
    }
    return restricted ? AttentionSearch.of(arguments) : AttentionSearch.one(arguments);
  }

  private List<TuningRecord> records() {
    return database.records(search(true).attention().key(), HERE);
  }

  @Test
  void eachResultIsSaidAndKeptBeforeTheNextRuns() {
    for (AttentionConfig config : List.of(WHOLE, PARTS)) {
      AttentionKernels.ofFull(search(true).attention(), config, GpuTarget.SM_80)
          .kernels()
          .forEach(gpu::knows);
    }
    gpu.takes("attention_f16", 9000)
        .takes("attention_f16_part", 5000)
        .takes("attention_f16_combine", 1000);
    List<Integer> kept = new ArrayList<>();
    Report report =
        AttentionPerf.tune(
            search(true),
            5,
            database,
            HERE,
            line -> {
              said.add(line);
              kept.add(records().size());
            });
    assertThat(report.text()).startsWith("attention B=2 HQ=4 HKV=2 D=16 T=1 S=37 f16 on Fake GPU");
    assertThat(said).hasSize(5);
    assertThat(said.get(1)).contains(" us (", "relative error", "verified");
    assertThat(kept).containsExactly(0, 0, 1, 2, 3);
    assertThat(records())
        .extracting(record -> AttentionConfig.parse(record.point().text()))
        .contains(WHOLE, PARTS);
    assertThat(records().getLast().outcome()).isInstanceOf(Outcome.Measured.class);

    // The fastest known one is what perf measures; a search measures only that again.
    assertThat(
            AttentionPerf.perf(
                    search(false), 5, false, database, HERE, said::add, AttentionPerf.Ways.ALONE)
                .text())
        .contains("splits=2");
    said.clear();
    AttentionPerf.tune(search(true), 5, database, HERE, said::add);
    assertThat(records()).hasSize(4 + 2 + 4);
    assertThat(
            database
                .best(search(true).attention().key(), "sm_80", FakeGpu.NAME)
                .map(TuningRecord::outcome)
                .map(outcome -> ((Outcome.Measured) outcome).timeUs())
                .orElseThrow())
        .isCloseTo(6000, within(0.1));
  }
}
