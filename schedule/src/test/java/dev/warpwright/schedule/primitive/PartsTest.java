package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.Functions;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Iterations that compute a part of a buffer, some of it or nothing under a predicate: nobody uses
 * more of it than there is. Most of these were found by random sequences of primitives.
 */
final class PartsTest {
  private static List<LoopRef> loops(Schedule s, String block) {
    return s.loops(s.block(block));
  }

  /** Splits a loop so that most iterations of the inner one do nothing. */
  private static Schedule.Halves splitTooFar(Schedule s, LoopRef loop) {
    return s.split(s.split(loop, 1).inner(), 3);
  }

  @Test
  void copiesOfWhatIsGuardedInsideABlockizedBlock() {
    Schedule s = new Schedule(Samples.chain(4, 5));
    s.blockize(s.split(loops(s, "h").get(1), 4).inner());
    s.compactAll();
    BlockRef h = s.block("h");
    String why = "h may have elements that nothing writes";
    Refusal.of(s, "cacheWrite", 4, why, () -> s.cacheWrite(h, Scope.SHARED));
    BlockRef y = s.block("y");
    Refusal.of(s, "cacheRead", 5, why, () -> s.cacheRead(s.buffer("h"), Scope.SHARED, y));
    // In time, the copy is as large as the buffer.
    PrimFunc func = Samples.chain(4, 5);
    Schedule t = new Schedule(func);
    t.cacheWrite(t.block("h"), Scope.SHARED);
    t.blockize(t.split(loops(t, "h").get(1), 4).inner());
    t.compactAll();
    Outcome.keepsResults(func, t);
  }

  @Test
  void aBlockizedBlockThatIsGuardedInATile() {
    Schedule s = new Schedule(Samples.chain(6, 5));
    LoopRef tile = s.split(loops(s, "y").get(0), 2).outer();
    s.computeAt(s.block("h"), tile);
    s.blockize(s.split(loops(s, "y").getLast(), 4).inner());
    String why = "block y is guarded in a tile";
    Refusal.of(s, "cacheWrite", 4, why, () -> s.cacheWrite(s.block("y"), Scope.LOCAL));
  }

  @Test
  void whatAWorkerOfStreamKWritesIsNoBox() {
    Schedule s = new Schedule(Samples.chain(7, 4));
    List<LoopRef> l = loops(s, "y");
    s.computeAt(s.block("h"), s.streamK(l.get(0), l.get(1), 4).outer());
    Refusal.of(s, "cacheWrite", 4, "no box", () -> s.cacheWrite(s.block("y"), Scope.LOCAL));
  }

  @Test
  void aProducerThatLeavesThePaddingOut() {
    Schedule s = new Schedule(Samples.matmul(3, 4, 4));
    BlockRef c = s.block("c");
    BlockRef a = s.cacheRead(s.buffer("a"), Scope.GLOBAL, c);
    s.cacheRead(s.buffer("b"), Scope.GLOBAL, c);
    s.cacheWrite(c, Scope.GLOBAL);
    s.pad(c, 4L, 1L, 1L);
    BlockRef staged = s.cacheRead(s.buffer("a"), Scope.LOCAL, a);
    s.compactAll();
    String why = "does not compute all of a_local";
    Refusal.of(s, "reverseComputeInline", 4, why, () -> s.reverseComputeInline(a));
    LoopRef row = s.loops(staged).get(0);
    String more = "reads more of a_local than loop";
    Refusal.of(s, "reverseComputeAt", 4, more, () -> s.reverseComputeAt(a, row));
  }

  @Test
  void aProducerMovesWithThePredicateOfItsSource() {
    PrimFunc func = Samples.chainOfRows(3);
    Schedule s = new Schedule(func);
    LoopRef row = loops(s, "y").get(0);
    s.computeAt(s.block("h"), row);
    LoopRef copied = s.loops(s.cacheWrite(s.block("y"), Scope.GLOBAL).copy()).get(1);
    splitTooFar(s, row);
    s.computeAt(s.block("y"), copied);
    assertThat(IrPrinter.text(s.func()))
        .contains("block y(i_1: spatial(M) = i_o + i_i_o * 3 + i_i_i + v0 + i,")
        .contains("i_i_o * 3 + i_i_i < 1 {\n                reads h[");
    Outcome.keepsResults(func, s);
    Outcome.replays(func, s);
  }

  @Test
  void aProducerComputesNoMoreThanItsSourceHas() {
    PrimFunc func = Samples.centred(2, 7);
    Schedule s = new Schedule(func);
    s.computeAt(s.block("s"), loops(s, "y").get(0));
    s.compactAll();
    LoopRef copied = s.loops(s.cacheWrite(s.block("y"), Scope.SHARED).copy()).get(1);
    LoopRef outer = s.split(copied, 4).outer();
    s.computeAt(s.block("y"), outer);
    assertThat(IrPrinter.text(s.func())).contains("+ v0_o * 4 + i_1 < i + 1");
    Outcome.keepsResults(func, s);
    Outcome.replays(func, s);
  }

  @Test
  void aProducerWhoseInstancesAreNoBoxStaysWithItsSource() {
    Schedule s = new Schedule(Samples.chain(4, 6));
    Schedule.Halves column = s.split(loops(s, "y").get(1), 1);
    s.computeAt(s.block("h"), column.outer());
    LoopRef copied = s.loops(s.cacheWrite(s.block("y"), Scope.LOCAL).copy()).getLast();
    s.split(column.inner(), 3);
    String why = "cuts off more than the ends of its extents";
    Refusal.of(s, "computeAt", 6, why, () -> s.computeAt(s.block("y"), copied));

    Schedule t = new Schedule(Samples.chain(16, 6));
    Schedule.Halves group = t.split(loops(t, "y").get(0), 8);
    Schedule.Halves element = t.split(group.inner(), 2);
    t.reorder(element.outer(), group.outer(), element.inner());
    t.computeAt(t.block("h"), element.outer());
    // h has rows 0, 1, 8 and 9 for the first thread, and no others.
    Refusal.of(t, "cacheWrite", 4, "no box", () -> t.cacheWrite(t.block("y"), Scope.LOCAL));
  }

  @Test
  void aConsumerDoesNotAccumulateTwice() {
    Buffer x = Samples.global("x", 4, 3);
    Buffer w = Samples.global("w", 3, 2);
    Buffer h = Samples.global("h", 4, 3);
    Buffer y = Samples.global("y", 4, 2);
    PrimFunc func =
        Functions.function(
            List.of(x, w, y),
            Functions.elementwise(h, at -> Exprs.mul(new Expr.Load(x, at), Exprs.f32(3))),
            Functions.product(y, h, w, false));
    Schedule s = new Schedule(func);
    List<LoopRef> l = loops(s, "y");
    s.decomposeReduction(s.block("y"), l.get(1));
    s.computeAt(s.block("h"), l.get(1));
    LoopRef row = loops(s, "h").get(2);
    s.reverseComputeAt(s.block("y"), row);
    assertThat(IrPrinter.text(s.func())).contains("where j_1 >= j && j_1 < j + 1 {");
    Outcome.keepsResults(func, s);
    Outcome.replays(func, s);
  }

  @Test
  void aConsumerKeepsThePredicateOfItsProducer() {
    PrimFunc func = Samples.centred(2, 1);
    Schedule s = new Schedule(func);
    Schedule.Halves k = s.split(loops(s, "s").get(1), 1);
    s.reverseComputeAt(s.block("y"), k.outer());
    s.split(k.outer(), 5);
    s.reverseComputeAt(s.block("y"), k.inner());
    assertThat(IrPrinter.text(s.func()))
        .contains(
            "block y(i_2: spatial(2) = i + i_1, j_1: spatial(1) = j) where k_o_o * 5 + k_o_i < 1");
    Outcome.keepsResults(func, s);
    Outcome.replays(func, s);
  }

  @Test
  void tilesDoNotOverwriteEachOther() {
    Schedule s = new Schedule(Samples.centred(5, 4));
    LoopRef row = loops(s, "s").get(0);
    s.setScope(s.buffer("s"), Scope.SHARED);
    Schedule.Halves far = splitTooFar(s, row);
    s.compactAll();
    String why = "cuts off more than the ends of its extents";
    BlockRef sum = s.block("s");
    Refusal.of(s, "tensorize", 5, why, () -> s.tensorize(sum, far.inner(), Attrs.NONE));
  }

  @Test
  void sumsBeyondTheExtentsAreInitialised() {
    PrimFunc func = Samples.centred(7, 5);
    Schedule s = new Schedule(func);
    BlockRef init = s.decomposeReduction(s.block("s"), loops(s, "s").get(1));
    s.setScope(s.buffer("s"), Scope.SHARED);
    s.split(loops(s, "s").get(0), 5);
    s.compactAll();
    String why = "tensorize the initialisation first";
    Refusal.of(s, "tensorize", 5, why, () -> s.tensorize(s.block("s"), Attrs.NONE));
    s.tensorize(init, Attrs.NONE);
    s.tensorize(s.block("s"), Attrs.NONE);
    Outcome.keepsResults(func, s);

    // Here the initialisation has no predicate, but it has seven rows, and the tiles have ten.
    Schedule t = new Schedule(func);
    t.decomposeReduction(t.block("s"), loops(t, "s").get(0));
    t.setScope(t.buffer("s"), Scope.SHARED);
    t.split(loops(t, "s").get(0), 5);
    t.compactAll();
    Refusal.of(t, "tensorize", 5, why, () -> t.tensorize(t.block("s"), Attrs.NONE));
  }

  @Test
  void aParallelLoopMovesOutOfTheOneThatKeptItApart() {
    Schedule s = new Schedule(Samples.chain(4, 6));
    Schedule.Halves row = s.split(loops(s, "y").get(0), 1);
    Schedule.Halves far = s.split(row.inner(), 3);
    s.parallel(far.inner());
    Refusal.of(s, "reorder", 6, "depend on each other", () -> s.reorder(far.inner(), row.outer()));
  }
}
