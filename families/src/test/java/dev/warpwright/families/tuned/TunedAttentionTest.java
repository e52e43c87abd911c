package dev.warpwright.families.tuned;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.type.DType;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.RecordList;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is used of an attention's records. */
final class TunedAttentionTest {
  private static final Attention DECODE = Attention.of(2, 8, 2, 64, 1, 512, DType.BF16);
  private static final String SLOW = "rows=16 keys=64 splits=2 threads=128 stages=2";
  private static final String FAST = "rows=16 keys=32 splits=4 threads=64 stages=3";

  private static TuningRecord record(
      Attention attention, String device, String point, Outcome outcome) {
    return new TuningRecord(
        attention.key(),
        new Environment("sm_90a", device, "1", "2", "3"),
        Point.parse(point),
        "hash",
        outcome,
        Instant.EPOCH);
  }

  private static Outcome in(double micros) {
    return new Outcome.Measured(micros, 0, 0, 0, 0);
  }

  private static Optional<TunedAttention> find(TuningRecord... records) {
    return TunedAttention.find(DECODE, GpuTarget.SM_90A, "mine", new RecordList(List.of(records)));
  }

  @Test
  void theFastestOfThisDeviceThenOfOthers() {
    TuningRecord slow = record(DECODE, "mine", SLOW, in(9));
    TuningRecord fast = record(DECODE, "mine", FAST, in(7));
    TuningRecord elsewhere = record(DECODE, "other", FAST, in(3));
    assertThat(find(slow, fast, elsewhere))
        .hasValueSatisfying(
            best -> {
              assertThat(best.config().text()).isEqualTo(FAST);
              assertThat(best.micros()).isEqualTo(7);
              assertThat(best.device()).isEqualTo("mine");
            });
    assertThat(find(slow, elsewhere)).map(best -> best.config().text()).hasValue(SLOW);
    assertThat(find(elsewhere)).map(TunedAttention::device).hasValue("other");
  }

  @Test
  void nothingThatFailedNothingOfOthersAndNothingThatIsNoMore() {
    assertThat(find(record(DECODE, "mine", FAST, new Outcome.Failed(FailureReason.WRONG, "no"))))
        .isEmpty();
    assertThat(find(record(DECODE.withPage(16), "mine", FAST, in(3)))).isEmpty();
    assertThat(find(record(DECODE, "mine", "rows=16 lanes=3", in(3)))).isEmpty();
    assertThat(find(record(DECODE, "mine", FAST.replace("threads=64", "threads=63"), in(3))))
        .as("no configuration of this attention")
        .isEmpty();
  }
}
