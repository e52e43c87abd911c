package dev.warpwright.families.tuned;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When a record counts as tuned, and what takes its place. */
final class RecordCheckTest {
  private static final GpuTarget TARGET = GpuTarget.SM_80;
  private static final int SMS = 108;
  private static final GemmWorkload WORKLOAD = GemmWorkload.nt(256, 256, 256, DType.BF16);
  private static final Environment HERE = environment("NVIDIA A100", "13.0", "nvrtc 13.0");
  private static final Candidate CANDIDATE = candidate();
  private static final String SOURCE = RecordCheck.sourceHash(CANDIDATE, TARGET);

  @TempDir private Path folder;

  private static Environment environment(String device, String driver, String toolkit) {
    return new Environment(TARGET.name(), device, driver, toolkit, "test");
  }

  private static Candidate candidate() {
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 1000; i++) {
      Point point = GemmSpace.of(WORKLOAD, TARGET, SMS).sample(random).point();
      var candidate = RecordCheck.candidate(WORKLOAD, TARGET, SMS, point);
      if (candidate.isPresent() && !RecordCheck.sourceHash(candidate.get(), TARGET).isEmpty()) {
        return candidate.get();
      }
    }
    throw new AssertionError("no candidate");
  }

  private static TuningRecord record(
      Environment environment, String source, Outcome outcome, int second) {
    return new TuningRecord(
        WORKLOAD.key(),
        environment,
        CANDIDATE.point(),
        source,
        outcome,
        Instant.parse("2026-11-22T10:00:00.5Z").plusSeconds(second));
  }

  private static Outcome.Measured us(double time) {
    return new Outcome.Measured(time, 0.001, 1e-3, 1400, 40);
  }

  private TunedGemm find(TuningDatabase database, @Nullable Environment here) {
    return new GemmChooser(
            new GemmChooser.Where(TARGET, here, SMS),
            database,
            Optional.empty(),
            new RejectedKernels(folder))
        .choose(WORKLOAD);
  }

  private TunedGemm foundWith(TuningRecord record, @Nullable Environment here) {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      database.add(record);
      return find(database, here);
    }
  }

  @Test
  void theSameOfAllIsTuned() {
    TunedGemm found = foundWith(record(HERE, SOURCE, us(10), 0), HERE);
    assertThat(found.origin()).isEqualTo(TunedGemm.Origin.TUNED);
    assertThat(found.untested()).isEmpty();
    assertThat(found.candidate().point()).isEqualTo(CANDIDATE.point());
  }

  /**
   * Workers get kernels as text, and name in their records what they print: the same as is printed
   * here, or a record would be stale when it is made. Blocks in two dimensions and in one.
   */
  @Test
  void aWorkerPrintsTheSourceThatRecordsAreHeldTo() {
    IrParser parser = new IrParser(Intrinsics::find);
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      ShippedRecords.addTo(database);
      List<TuningRecord> records =
          database.fastest(GpuTarget.SM_90A.name(), 1).stream()
              .filter(record -> record.workload().text().startsWith("gemm "))
              .toList();
      int inTwo = 0;
      for (int i = 0; i < records.size(); i += 8) {
        TuningRecord record = records.get(i);
        Candidate candidate =
            RecordCheck.candidate(
                    GemmWorkload.of(record.workload()), GpuTarget.SM_90A, 132, record.point())
                .orElseThrow();
        Kernel sent = parser.kernel("request", IrPrinter.text(candidate.kernel().get()));
        String source =
            CudaPrinter.print(BoundKernel.of(sent, candidate.values()).kernel(), GpuTarget.SM_90A);
        assertThat(SourceHash.of(source))
            .as("%s %s", record.workload().text(), record.point().text())
            .isEqualTo(RecordCheck.sourceHash(candidate, GpuTarget.SM_90A));
        inTwo += sent.binding(ThreadAxis.BLOCK_Y).isPresent() ? 1 : 0;
      }
      assertThat(inTwo).isBetween(1, records.size() / 8 - 1);
    }
  }

  @Test
  void anotherSourceDriverCompilerOrDeviceIsAFirstChoiceThatNobodyTested() {
    String other = "ab".repeat(32);
    assertUntested(foundWith(record(HERE, other, us(10), 0), HERE), "another source");
    assertUntested(foundWith(record(HERE, other, us(10), 0), null), "another source");
    assertUntested(
        foundWith(
            record(environment("NVIDIA A100", "12.8", "nvrtc 13.0"), SOURCE, us(10), 0), HERE),
        "driver 12.8, here 13.0");
    assertUntested(
        foundWith(record(environment("NVIDIA A100", "13.0", ""), SOURCE, us(10), 0), HERE),
        "compiler unknown, here nvrtc 13.0");
    assertUntested(
        foundWith(record(environment("NVIDIA A40", "13.0", "nvrtc 13.0"), SOURCE, us(10), 0), HERE),
        "device NVIDIA A40, here NVIDIA A100");
  }

  private static void assertUntested(TunedGemm found, String reason) {
    assertThat(found.origin()).isEqualTo(TunedGemm.Origin.UNTESTED);
    assertThat(found.untested()).isEqualTo(reason);
    assertThat(found.candidate().point()).isEqualTo(CANDIDATE.point());
  }

  @Test
  void whatIsUnknownHereIsNotCompared() {
    Environment unknown = environment("NVIDIA A100", "", "");
    assertThat(foundWith(record(HERE, SOURCE, us(10), 0), unknown).origin())
        .isEqualTo(TunedGemm.Origin.TUNED);
    assertThat(foundWith(record(HERE, SOURCE, us(10), 0), null).origin())
        .isEqualTo(TunedGemm.Origin.TUNED);
  }

  /** Though it was recorded as faster with what is no more. */
  @Test
  void onceTimedAgainItIsTuned() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      database.add(record(environment("NVIDIA A100", "12.8", "nvrtc 12.8"), SOURCE, us(10), 0));
      assertThat(find(database, HERE).origin()).isEqualTo(TunedGemm.Origin.UNTESTED);
      database.add(record(HERE, SOURCE, us(11), 60));
      assertThat(find(database, HERE).origin()).isEqualTo(TunedGemm.Origin.TUNED);
    }
  }

  @Test
  void onceWrongItIsChosenNoMore() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      database.add(record(environment("NVIDIA A100", "12.8", "nvrtc 12.8"), SOURCE, us(10), 0));
      database.add(record(HERE, SOURCE, new Outcome.Failed(FailureReason.WRONG, "planted"), 60));
      assertThat(find(database, HERE).origin()).isEqualTo(TunedGemm.Origin.UNTUNED);
    }
  }
}
