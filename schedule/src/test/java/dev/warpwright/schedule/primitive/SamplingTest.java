package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.order.Combine;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Replay;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.ValueRef;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.schedule.trace.Decision;
import dev.warpwright.schedule.trace.Trace;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Choices, and what a trace makes of them. */
final class SamplingTest {
  /** A product whose tiles and pipeline are sampled. */
  private static Schedule sampled(PrimFunc func, long seed) {
    Schedule s = new Schedule(func, seed);
    List<LoopRef> l = s.loops(s.block("c"));
    List<ValueRef> rows = s.samplePerfectTile(l.get(0), 3, 4);
    LoopRef outer = s.split(l.get(0), rows.get(2)).outer();
    s.split(outer, rows.get(1));
    s.pipeline(l.get(2), s.sampleCategorical(List.of(2L, 3L, 4L), List.of(1L, 2L, 1L)));
    return s;
  }

  @Test
  void aReplayChoosesTheSame() {
    PrimFunc func = Samples.matmul(24, 4, 6);
    Set<List<Long>> tiles = new HashSet<>();
    for (long seed = 0; seed < 30; seed++) {
      Schedule s = sampled(func, seed);
      Outcome.replays(func, s);
      tiles.add(s.trace().decisions().getFirst().chosen());
      assertThat(sampled(func, seed).trace()).isEqualTo(s.trace());
    }
    assertThat(tiles).hasSizeGreaterThan(5);
    Outcome.keepsResults(func, sampled(func, 5));
  }

  @Test
  void anotherDecisionChangesWhatUsesIt() {
    PrimFunc func = Samples.matmul(24, 4, 6);
    Trace trace = sampled(func, 1).trace();
    List<Decision> decisions = trace.decisions();
    assertThat(decisions)
        .extracting(Decision::op)
        .containsExactly("samplePerfectTile", "sampleCategorical");
    Trace other =
        trace
            .withDecision(decisions.get(0).instruction(), List.of(4L, 3L, 2L))
            .withDecision(decisions.get(1).instruction(), List.of(2L));
    PrimFunc result = Replay.func(other, func);
    Schedule s = new Schedule(func);
    List<LoopRef> l = s.loops(s.block("c"));
    s.split(s.split(l.get(0), 2).outer(), 3);
    s.pipeline(l.get(2), 4);
    assertThat(StructuralEquality.difference(s.func(), result)).isEmpty();
    assertThat(trace.withDecision(decisions.get(0).instruction(), decisions.get(0).chosen()))
        .isEqualTo(trace);
    assertThatThrownBy(() -> trace.withDecision(0, List.of(1L)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("samples nothing");
  }

  @Test
  void onAnotherShapeDecisionsFitOrAreMadeAgain() {
    Trace trace = sampled(Samples.matmul(24, 4, 6), 1).trace();
    PrimFunc wider = Samples.matmul(24, 8, 10);
    Replay.func(trace, wider);
    PrimFunc other = Samples.matmul(20, 4, 6);
    assertThatThrownBy(() -> Replay.func(trace, other))
        .isInstanceOf(ScheduleError.class)
        .hasMessageContaining("instruction 1 of the trace does not fit")
        .hasMessageContaining("do not make the extent 20 of loop i");
    Schedule again = Replay.schedule(trace.withoutDecisions(), other, 3);
    assertThat(again.trace().decisions()).hasSize(2);
    Outcome.keepsResults(other, again);
  }

  @Test
  void sampledParts() {
    PrimFunc func = Samples.matmul(4, 4, 8);
    Schedule s = new Schedule(func);
    ValueRef parts = s.sampleCategorical(List.of(2L, 4L), List.of(0L, 1L));
    assertThat(parts.value()).isEqualTo(4);
    s.splitK(s.block("c"), parts, Combine.WORKSPACE);
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void allChoices() {
    assertThat(SamplePerfectTile.choices(12, 2, 4))
        .containsExactly(List.of(3L, 4L), List.of(4L, 3L), List.of(6L, 2L), List.of(12L, 1L));
    assertThat(SamplePerfectTile.choices(4096, 4, 4096)).hasSize(455);
  }

  @Test
  void weightsAreKept() {
    PrimFunc func = Samples.matmul(2, 2, 2);
    Schedule s = new Schedule(func, 7);
    int[] count = new int[4];
    for (int i = 0; i < 2000; i++) {
      count[(int) s.sampleCategorical(List.of(0L, 1L, 2L), List.of(1L, 2L, 1L)).value()]++;
    }
    assertThat(count[0]).isBetween(400, 600);
    assertThat(count[1]).isBetween(900, 1100);
  }

  @Test
  void refuses() {
    Schedule s = new Schedule(Samples.matmul(6, 4, 2));
    LoopRef i = s.loops(s.block("c")).get(0);
    String tile = "samplePerfectTile";
    Refusal.of(s, tile, 3, "0 factors", () -> s.samplePerfectTile(i, 0, 4));
    Refusal.of(s, tile, 3, "up to 0", () -> s.samplePerfectTile(i, 2, 0));
    Refusal.of(s, tile, 3, "no factors up to 4", () -> s.samplePerfectTile(i, 1, 4));
    Refusal.of(s, tile, 4, "do not make", () -> s.samplePerfectTile(i, 2, 4, List.of(3L, 3L)));
    Refusal.of(s, tile, 4, "do not make", () -> s.samplePerfectTile(i, 2, 4, List.of(6L)));
    Refusal.of(s, tile, 4, "do not make", () -> s.samplePerfectTile(i, 2, 2, List.of(2L, 3L)));
    Refusal.of(s, tile, 4, "do not make", () -> s.samplePerfectTile(i, 2, 4, List.of(-2L, -3L)));
    s.split(i, 2);
    Refusal.of(s, tile, 1, "no loop over i", () -> s.samplePerfectTile(i, 2, 4));
    Schedule t = new Schedule(Samples.chainOfRows(3));
    LoopRef rows = t.loops(t.block("y")).get(0);
    Refusal.of(t, tile, 2, "no positive constant", () -> t.samplePerfectTile(rows, 2, 4));

    String one = "sampleCategorical";
    List<Long> two = List.of(1L, 2L);
    Refusal.of(s, one, 1, "2 candidates", () -> s.sampleCategorical(two, List.of(1L)));
    Refusal.of(s, one, 1, "0 candidates", () -> s.sampleCategorical(List.of(), List.of()));
    Refusal.of(s, one, 2, "weights", () -> s.sampleCategorical(two, List.of(1L, -1L)));
    Refusal.of(s, one, 2, "all weights are 0", () -> s.sampleCategorical(two, List.of(0L, 0L)));
    Refusal.of(s, one, 3, "no candidate 2", () -> s.sampleCategorical(two, two, 2L));
  }

  @Test
  void aValueBeforeItIsSampledIsRefused() {
    Trace trace =
        Trace.parse(
            "[{\"op\": \"loops\", \"in\": [\"y\"], \"attrs\": {}, \"out\": [\"l0\", \"l1\"]},"
                + "{\"op\": \"split\", \"in\": [\"l0\"], \"attrs\": {\"factor\": \"v0\"},"
                + " \"out\": [\"l2\", \"l3\"]}]");
    assertThatThrownBy(() -> Replay.func(trace, Samples.chain(4, 6)))
        .isInstanceOf(UserError.class)
        .hasMessage("trace: value v0 is used before it is sampled");
  }
}
