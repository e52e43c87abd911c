package dev.warpwright.schedule.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.Functions;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Replay;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.error.ScheduleError;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TraceTest {
  /** Every primitive once. */
  private static Schedule everything(PrimFunc func) {
    Schedule s = new Schedule(func);
    Schedule.Written c = s.cacheWrite(s.block("c"), Scope.LOCAL);
    List<LoopRef> l = s.loops(c.copy());
    LoopRef tile = s.split(l.get(0), 4).outer();
    s.computeAt(s.block("c"), tile);
    BlockRef a = s.cacheRead(s.buffer("a"), Scope.SHARED, s.block("c"));
    s.setScope(s.buffer("a_shared"), Scope.LOCAL);
    List<LoopRef> m = s.loops(s.block("c"));
    Schedule.Halves k = s.split(m.get(3), 2);
    s.reorder(k.outer(), m.get(1), m.get(2), k.inner());
    s.computeAt(a, k.outer());
    s.compactAll();
    BlockRef init = s.decomposeReduction(s.block("c"), k.outer());
    s.tensorize(init, tile, Attrs.NONE);
    s.tensorize(s.block("c"), k.outer(), Attrs.NONE.with("instr", "fma").with("warps", 4));
    s.pipeline(k.outer(), 2);
    s.annotate(tile, "note", "a \"quoted\"\n \u00e9\\");
    s.annotate(a, "vec", -7L);
    s.annotate("threads", 64L);
    s.bind(tile, ThreadAxis.BLOCK_X);
    List<LoopRef> copy = s.loops(a);
    LoopRef fused = s.fuse(copy.get(copy.size() - 2), copy.getLast());
    s.vectorize(s.split(fused, 2).inner());
    List<LoopRef> out = s.loops(c.copy());
    s.unroll(out.getLast());
    return s;
  }

  @Test
  void replayDoesTheSameAgain() {
    PrimFunc func = Samples.matmul(8, 6, 4);
    Schedule s = everything(func);
    Functions.assertSameResults(func, s.func(), 0);
    PrimFunc other = Samples.matmul(8, 6, 4);
    Schedule replayed = Replay.schedule(s.trace(), other, 0);
    assertThat(replayed.trace()).isEqualTo(s.trace());
    assertThat(StructuralEquality.difference(s.func(), replayed.func())).isEmpty();
  }

  @Test
  void jsonRoundTrip() {
    Trace trace = everything(Samples.matmul(8, 6, 4)).trace();
    String json = trace.toJson();
    assertThat(Trace.parse(json)).isEqualTo(trace);
    assertThat(json.lines()).hasSize(trace.instructions().size() + 2);
    assertThat(json)
        .startsWith("[\n  {\"op\": \"cacheWrite\", \"in\": [\"c\"], \"attrs\": {\"scope\"");
  }

  @Test
  void inlineAndParallelReplay() {
    PrimFunc func = Samples.chain(4, 6);
    Schedule s = new Schedule(func);
    s.computeInline(s.block("h"));
    s.parallel(s.loops(s.block("y")).getFirst());
    PrimFunc replayed = Replay.func(Trace.parse(s.trace().toJson()), func);
    Functions.assertSameResults(func, replayed, 0);
  }

  @Test
  void anEmptyTraceChangesNothing() {
    PrimFunc func = Samples.chain(4, 6);
    assertThat(Replay.func(Trace.parse(new Schedule(func).trace().toJson()), func)).isSameAs(func);
  }

  @Test
  void aTraceOfSomethingElseIsRefused() {
    Trace trace = everything(Samples.matmul(8, 6, 4)).trace();
    assertThatThrownBy(() -> Replay.func(trace, Samples.chain(4, 6)))
        .isInstanceOf(ScheduleError.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "[",
        "[1]",
        "[{}]",
        "[] x",
        "[{\"op\": \"split\", \"in\": [1], \"attrs\": {}, \"out\": []}]",
        "[{\"op\": \"split\", \"in\": [], \"attrs\": {\"factor\": []}, \"out\": []}]",
        "[{\"op\": \"split\", \"in\": [\"\\u00zz\"], \"attrs\": {}, \"out\": []}]",
        "[{\"op\": \"split\", \"in\": [\"l0\"], \"attrs\": {\"factor\": 1.5}, \"out\": []}]",
      })
  void textsThatAreNoTrace(String text) {
    assertThatThrownBy(() -> Trace.parse(text))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith("trace: ")
        .hasMessageNotContaining("\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[{\"op\": \"explode\", \"in\": [], \"attrs\": {}, \"out\": []}]",
        "[{\"op\": \"split\", \"in\": [], \"attrs\": {}, \"out\": []}]",
        "[{\"op\": \"split\", \"in\": [\"l9\"], \"attrs\": {\"factor\": 2}, \"out\": []}]",
        "[{\"op\": \"loops\", \"in\": [\"y\"], \"attrs\": {}, \"out\": [\"l0\"]}]",
        "[{\"op\": \"loops\", \"in\": [\"y\"], \"attrs\": {}, \"out\": [\"l0\", \"l1\"]},"
            + "{\"op\": \"bind\", \"in\": [\"l0\"], \"attrs\": {\"axis\": \"up\"}, \"out\": []}]",
        "[{\"op\": \"loops\", \"in\": [\"y\"], \"attrs\": {}, \"out\": [\"l0\", \"l1\"]},"
            + "{\"op\": \"split\", \"in\": [\"l0\"], \"attrs\": {\"factor\": \"2\"}, \"out\": []}]",
        "[{\"op\": \"cacheWrite\", \"in\": [\"y\"], \"attrs\": {\"scope\": \"local\"},"
            + " \"out\": [\"a\", \"b\"]}]",
      })
  void tracesThatDoNotFit(String text) {
    Trace trace = Trace.parse(text);
    assertThatThrownBy(() -> Replay.func(trace, Samples.chain(4, 6)))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith("trace: ");
  }
}
