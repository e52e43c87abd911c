package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.Functions;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ReverseComputeInlineTest {
  private static final String NAME = "reverseComputeInline";
  private final Buffer x = Samples.global("x", 4, 6);
  private final Buffer w = Samples.global("w", 4, 6);
  private final Buffer h = Samples.global("h", 4, 6);
  private final Buffer y = Samples.global("y", 4, 6);

  @Test
  void intoTheTiledProducer() {
    PrimFunc func = Samples.chainOfRows(3);
    Schedule s = new Schedule(func);
    s.split(s.loops(s.block("h")).get(0), 4);
    s.reverseComputeInline(s.block("y"));
    Outcome.is(
        func,
        s,
        """
        primfunc f(x: f32[M, 3], y: f32[M, 3], M: i32 in 0..2147483647) {
          for i_o in (M + 3) / 4 {
            for i_i in 4 {
              for j in 3 {
                block h(i: spatial(M) = i_o * 4 + i_i, j_1: spatial(3) = j) where i_o * 4 + i_i < M {
                  reads x[i, j_1]
                  writes y[i, j_1]
                  y[i, j_1] = x[i, j_1] * 2.0f32 + 1.0f32
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void transposedAndWithOtherOperands() {
    Buffer t = Samples.global("t", 6, 4);
    PrimFunc func =
        Functions.function(
            List.of(x, w, t),
            Functions.elementwise(h, at -> Exprs.mul(new Expr.Load(x, at), Exprs.f32(3))),
            Functions.elementwise(
                t,
                at -> {
                  Expr turned = Exprs.load(h, at.get(1), at.get(0));
                  return Exprs.add(Exprs.mul(turned, turned), Exprs.load(w, at.get(1), at.get(0)));
                }));
    Schedule s = new Schedule(func);
    s.reverseComputeInline(s.block("t"));
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void refuses() {
    Schedule s = new Schedule(Samples.centred(4, 6));
    Refusal.of(s, NAME, 1, "no block z", () -> s.reverseComputeInline(new BlockRef("z")));
    Refusal.of(s, NAME, 2, "elementwise", () -> s.reverseComputeInline(s.block("s")));
    Refusal.of(s, NAME, 3, "by all of its variables", () -> s.reverseComputeInline(s.block("y")));
    Schedule p =
        new Schedule(Functions.mlp(dev.warpwright.ir.type.DType.F32, Exprs.i32(4), null, 3, 5));
    Refusal.of(p, NAME, 4, "one store of one block", () -> p.reverseComputeInline(p.block("y")));
  }

  @Test
  void refusesOtherReaders() {
    Schedule s =
        new Schedule(
            Functions.function(
                List.of(x, w, y),
                Functions.elementwise(h, at -> new Expr.Load(x, at)),
                Functions.elementwise(w, at -> new Expr.Load(h, at)),
                Functions.elementwise(y, at -> new Expr.Load(h, at))));
    Refusal.of(s, NAME, 3, "another statement reads h", () -> s.reverseComputeInline(s.block("y")));
  }

  @Test
  void refusesToPassAWriter() {
    Schedule s =
        new Schedule(
            Functions.function(
                List.of(x, w, y),
                Functions.elementwise(h, at -> new Expr.Load(x, at)),
                Functions.elementwise(w, at -> Exprs.f32(1)),
                Functions.elementwise(
                    y, at -> Exprs.add(new Expr.Load(h, at), new Expr.Load(w, at)))));
    Refusal.of(s, NAME, 5, "w, which the block reads", () -> s.reverseComputeInline(s.block("y")));
  }

  @Test
  void refusesValuesWithoutEnd() {
    Schedule s =
        new Schedule(
            Functions.function(
                List.of(x, y),
                Functions.elementwise(h, at -> powers(new Expr.Load(x, at), 6)),
                Functions.elementwise(y, at -> powers(new Expr.Load(h, at), 6))));
    Refusal.of(s, NAME, 6, "too large", () -> s.reverseComputeInline(s.block("y")));
  }

  private static Expr powers(Expr e, int doublings) {
    Expr product = e;
    for (int i = 0; i < doublings; i++) {
      product = Exprs.mul(product, product);
    }
    return product;
  }

  @Test
  void keepsParallelLoopsIndependent() {
    PrimFunc func = Samples.chain(4, 6);
    Schedule s = new Schedule(func);
    LoopRef row = s.loops(s.block("h")).get(0);
    s.parallel(row);
    s.reverseComputeInline(s.block("y"));
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }
}
