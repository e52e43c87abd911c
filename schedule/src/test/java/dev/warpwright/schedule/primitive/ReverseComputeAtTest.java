package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.Functions;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.analysis.Tree;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ReverseComputeAtTest {
  private static List<LoopRef> loops(Schedule s, String block) {
    return s.loops(s.block(block));
  }

  @Test
  void underTilesOfRows() {
    PrimFunc func = Samples.chainOfRows(3);
    Schedule s = new Schedule(func);
    LoopRef tile = s.split(loops(s, "h").get(0), 4).outer();
    s.reverseComputeAt(s.block("y"), tile);
    s.compactAll();
    Outcome.is(
        func,
        s,
        """
        primfunc f(x: f32[M, 3], y: f32[M, 3], M: i32 in 0..2147483647) {
          for i_o in (M + 3) / 4 {
            alloc h: f32[4, 3] global
            for i_i in 4 {
              for j in 3 {
                block h(i: spatial(M) = i_o * 4 + i_i, j_1: spatial(3) = j) where i_o * 4 + i_i < M {
                  reads x[i, j_1]
                  writes h[i - i_o * 4, j_1]
                  h[i - i_o * 4, j_1] = x[i, j_1] * 2.0f32
                }
              }
            }
            for i in 4 {
              for j in 3 {
                block y(i_1: spatial(M) = i_o * 4 + i, j_1: spatial(3) = j) where i_o * 4 + i < M {
                  reads h[i_1 - i_o * 4, j_1]
                  writes y[i_1, j_1]
                  y[i_1, j_1] = h[i_1 - i_o * 4, j_1] + 1.0f32
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void anEpilogueUnderTilesOfAProduct() {
    PrimFunc func = Functions.mlp(dev.warpwright.ir.type.DType.F32, Exprs.i32(6), null, 5, 8);
    Schedule s = new Schedule(func);
    List<LoopRef> l = loops(s, "acc0");
    Schedule.Halves m = s.split(l.get(0), 4);
    Schedule.Halves n = s.split(l.get(1), 4);
    s.reorder(m.outer(), n.outer(), m.inner(), n.inner());
    s.reverseComputeAt(s.block("y"), n.outer());
    s.setScope(s.buffer("acc0"), Scope.LOCAL);
    s.compactAll();
    s.bind(m.outer(), ThreadAxis.BLOCK_Y);
    s.bind(n.outer(), ThreadAxis.BLOCK_X);
    assertThat(Tree.buffer(s.func(), "acc0").extent(0)).isEqualTo(4);
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void afterATileStatement() {
    PrimFunc func = Samples.chain(8, 6);
    Schedule s = new Schedule(func);
    LoopRef tile = s.split(loops(s, "h").get(0), 4).outer();
    s.tensorize(s.block("h"), tile, Attrs.NONE);
    s.reverseComputeAt(s.block("y"), tile);
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void aConsumerThatReducesOverAllOfIt() {
    Buffer x = Samples.global("x", 4, 6);
    Buffer h = Samples.global("h", 4, 6);
    Buffer y = Samples.global("y", 4);
    PrimFunc func =
        Functions.function(
            List.of(x, y),
            Functions.elementwise(h, at -> Exprs.mul(new Expr.Load(x, at), Exprs.f32(3))),
            Functions.rowSum(y, h));
    Schedule s = new Schedule(func);
    List<LoopRef> l = loops(s, "h");
    Refusal.of(
        s, "reverseComputeAt", 4, "reduces over", () -> s.reverseComputeAt(s.block("y"), l.get(1)));
    s.reverseComputeAt(s.block("y"), l.get(0));
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void aConsumerWithADimensionOfItsOwn() {
    PrimFunc func = Samples.centred(4, 6);
    Schedule s = new Schedule(func);
    s.reverseComputeAt(s.block("y"), loops(s, "s").get(0));
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void refuses() {
    Schedule s = new Schedule(Samples.centred(4, 6));
    List<LoopRef> sum = loops(s, "s");
    List<LoopRef> y = loops(s, "y");
    BlockRef z = new BlockRef("z");
    BlockRef block = s.block("y");
    Refusal.of(s, "reverseComputeAt", 1, "no block z", () -> s.reverseComputeAt(z, y.get(0)));
    Refusal.of(s, "reverseComputeAt", 2, "before", () -> s.reverseComputeAt(block, y.get(0)));
    Refusal.of(
        s, "reverseComputeAt", 2, "before", () -> s.reverseComputeAt(s.block("s"), y.get(0)));
    Refusal.of(
        s,
        "reverseComputeAt",
        5,
        "same elements of s",
        () -> s.reverseComputeAt(block, sum.get(1)));
    s.split(sum.get(0), 2);
    Refusal.of(
        s, "reverseComputeAt", 1, "no loop over i", () -> s.reverseComputeAt(block, sum.get(0)));
  }

  @Test
  void refusesWhatIsNotReadOrNotByName() {
    Buffer x = Samples.global("x", 8);
    Buffer g = Samples.global("g", 8);
    Buffer h = Samples.global("h", 8);
    Buffer y = Samples.global("y", 7);
    Schedule s =
        new Schedule(
            Functions.function(
                List.of(x, y, g),
                Functions.elementwise(g, at -> new Expr.Load(x, at)),
                Functions.elementwise(h, at -> new Expr.Load(x, at)),
                Functions.elementwise(y, at -> Exprs.load(h, Exprs.add(at.get(0), 1)))));
    Refusal.of(
        s,
        "reverseComputeAt",
        3,
        "reads nothing that loop i computes",
        () -> s.reverseComputeAt(s.block("y"), loops(s, "g").get(0)));
    Refusal.of(
        s,
        "reverseComputeAt",
        3,
        "does not read the element of h that its variables name",
        () -> s.reverseComputeAt(s.block("y"), loops(s, "h").get(0)));
  }

  @Test
  void refusesToPassOtherStatements() {
    Buffer x = Samples.global("x", 8);
    Buffer w = Samples.global("w", 8);
    Buffer h = Samples.global("h", 8);
    Buffer y = Samples.global("y", 8);
    Schedule s =
        new Schedule(
            Functions.function(
                List.of(x, y, w),
                Functions.elementwise(h, at -> new Expr.Load(x, at)),
                Functions.elementwise(w, at -> Exprs.f32(2)),
                Functions.elementwise(
                    y, at -> Exprs.add(new Expr.Load(h, at), new Expr.Load(w, at)))));
    Refusal.of(
        s,
        "reverseComputeAt",
        6,
        "w, which the block reads, is written in between",
        () -> s.reverseComputeAt(s.block("y"), loops(s, "h").get(0)));
    Schedule t =
        new Schedule(
            Functions.function(
                List.of(x, y, w),
                Functions.elementwise(h, at -> new Expr.Load(x, at)),
                Functions.elementwise(w, at -> new Expr.Load(y, at)),
                Functions.elementwise(y, at -> new Expr.Load(h, at))));
    Refusal.of(
        t,
        "reverseComputeAt",
        6,
        "y, which the block writes, is used in between",
        () -> t.reverseComputeAt(t.block("y"), loops(t, "h").get(0)));
  }

  @Test
  void refusesWhatIsNoBox() {
    Schedule s = new Schedule(Samples.chainOfRows(3));
    List<LoopRef> h = loops(s, "h");
    s.reorder(h.get(1), h.get(0));
    Refusal.of(
        s,
        "reverseComputeAt",
        4,
        "does not compute a dense box of h",
        () -> s.reverseComputeAt(s.block("y"), h.get(1)));
  }

  @Test
  void keepsParallelLoopsIndependent() {
    PrimFunc centred = Samples.centred(4, 6);
    Schedule s = new Schedule(centred);
    LoopRef row = loops(s, "s").get(0);
    s.parallel(row);
    s.reverseComputeAt(s.block("y"), row);
    // The sums are each row's own now, inside of the parallel loop.
    assertThat(IrPrinter.text(s.func()).lines().map(String::strip))
        .containsSubsequence("parallel i in 4 {", "alloc s: f32[4] global", "for k in 6 {");
    Outcome.replays(centred, s);
    Outcome.keepsResults(centred, s);
  }

  @Test
  void sharedMemoryOfOneBlockNeedsTheConsumerThere() {
    PrimFunc chain = Samples.chain(4, 6);
    Schedule s = new Schedule(chain);
    s.setScope(s.buffer("h"), Scope.SHARED);
    LoopRef h = loops(s, "h").get(0);
    Refusal.of(s, "bind", 5, "shared", () -> s.bind(h, ThreadAxis.BLOCK_X));
    s.reverseComputeAt(s.block("y"), h);
    s.bind(h, ThreadAxis.BLOCK_X);
    assertThat(IrPrinter.text(s.func()).lines().map(String::strip))
        .containsSubsequence("bind i: blockIdx.x in 4 {", "alloc h: f32[4, 6] shared");
    Outcome.replays(chain, s);
    Outcome.keepsResults(chain, s);
  }
}
