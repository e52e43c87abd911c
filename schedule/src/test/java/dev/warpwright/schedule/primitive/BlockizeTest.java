package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import java.util.List;
import org.junit.jupiter.api.Test;

final class BlockizeTest {
  private record Tiled(PrimFunc func, Schedule s, List<LoopRef> loops) {}

  /** Loops m, n, k over tiles, then loops inside. */
  private static Tiled tiled(long m, long n, long k, long tileM, long tileN, long tileK) {
    PrimFunc func = Samples.matmul(m, n, k);
    Schedule s = new Schedule(func);
    List<LoopRef> l = s.loops(s.block("c"));
    Schedule.Halves i = s.split(l.get(0), tileM);
    Schedule.Halves j = s.split(l.get(1), tileN);
    Schedule.Halves r = s.split(l.get(2), tileK);
    s.reorder(i.outer(), j.outer(), r.outer(), i.inner(), j.inner(), r.inner());
    return new Tiled(func, s, s.loops(s.block("c")));
  }

  @Test
  void tilesOfAProduct() {
    Tiled t = tiled(4, 6, 8, 2, 3, 4);
    t.s().blockize(t.loops().get(3));
    Outcome.is(
        t.func(),
        t.s(),
        """
        primfunc f(a: f32[4, 8], b: f32[8, 6], c: f32[4, 6]) {
          for i_o in 2 {
            for j_o in 2 {
              for k_o in 2 {
                block c(i_t: spatial(2) = i_o, j_t: spatial(2) = j_o, k_t: reduce(2) = k_o) {
                  reads a[i_t * 2 +: 2, k_t * 4 +: 4], b[k_t * 4 +: 4, j_t * 3 +: 3]
                  writes c[i_t * 2 +: 2, j_t * 3 +: 3]
                  init {
                    for i_i in 2 {
                      for j_i in 3 {
                        block c_inner_init(i: spatial(4) = i_t * 2 + i_i, j: spatial(6) = j_t * 3 + j_i) {
                          writes c[i, j]
                          c[i, j] = 0.0f32
                        }
                      }
                    }
                  }
                  for i_i in 2 {
                    for j_i in 3 {
                      for k_i in 4 {
                        block c_inner(i: spatial(4) = i_t * 2 + i_i, j: spatial(6) = j_t * 3 + j_i, k: reduce(8) = k_t * 4 + k_i) {
                          reads a[i, k], b[k, j]
                          writes c[i, j]
                          c[i, j] = fma(a[i, k], b[k, j], c[i, j])
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void tilesThatDoNotDivide() {
    Tiled t = tiled(5, 7, 9, 2, 3, 4);
    t.s().blockize(t.loops().get(3));
    Outcome.replays(t.func(), t.s());
    Outcome.keepsResults(t.func(), t.s());
  }

  @Test
  void theReductionInside() {
    Tiled t = tiled(4, 6, 8, 2, 3, 4);
    Schedule s = t.s();
    s.reorder(t.loops().get(3), t.loops().get(2));
    s.blockize(t.loops().get(2));
    Outcome.keepsResults(t.func(), s);
  }

  @Test
  void otherPrimitivesTakeItAsOne() {
    Tiled t = tiled(4, 6, 8, 2, 3, 4);
    Schedule s = t.s();
    List<LoopRef> l = t.loops();
    s.blockize(l.get(3));
    assertThat(s.loops(s.block("c"))).containsExactly(l.get(0), l.get(1), l.get(2));
    s.reorder(l.get(1), l.get(0));
    s.split(l.get(1), 3);
    s.cacheRead(s.buffer("a"), Scope.SHARED, s.block("c"));
    s.computeAt(s.block("a_shared"), l.get(2));
    s.decomposeReduction(s.block("c"), l.get(2));
    s.parallel(l.get(0));
    Outcome.replays(t.func(), s);
    Outcome.keepsResults(t.func(), s);
  }

  @Test
  void tensorizeTakesTheLoopsInside() {
    Tiled t = tiled(4, 6, 8, 2, 3, 4);
    Schedule s = t.s();
    s.blockize(t.loops().get(3));
    Refusal.of(
        s, "tensorize", 4, "decompose it first", () -> s.tensorize(s.block("c"), Attrs.NONE));
    s.decomposeReduction(s.block("c"), t.loops().get(2));
    s.tensorize(s.block("c_init"), Attrs.NONE);
    s.tensorize(s.block("c"), Attrs.NONE);
    Tiled u = tiled(4, 6, 8, 2, 3, 4);
    u.s().decomposeReduction(u.s().block("c"), u.loops().get(2));
    u.s().tensorize(u.s().block("c_init"), u.loops().get(1), Attrs.NONE);
    u.s().tensorize(u.s().block("c"), u.loops().get(2), Attrs.NONE);
    assertThat(StructuralEquality.difference(s.func(), u.s().func())).isEmpty();
    Outcome.replays(t.func(), s);
    Outcome.keepsResults(t.func(), s);
  }

  @Test
  void refuses() {
    Tiled t = tiled(5, 7, 9, 2, 3, 4);
    Schedule s = t.s();
    List<LoopRef> l = t.loops();
    s.unroll(l.get(5));
    Refusal.of(s, "blockize", 3, "not serial", () -> s.blockize(l.get(3)));
    Tiled u = tiled(4, 6, 8, 2, 3, 4);
    List<LoopRef> m = u.loops();
    Schedule v = u.s();
    v.blockize(m.get(5));
    Refusal.of(v, "blockize", 2, "blockized already", () -> v.blockize(m.get(4)));
    Refusal.of(v, "blockize", 1, "no loop over k_i", () -> v.blockize(m.get(5)));
    Schedule w = new Schedule(Samples.chain(4, 6));
    LoopRef y = w.loops(w.block("y")).get(0);
    w.computeAt(w.block("h"), y);
    Refusal.of(w, "blockize", 2, "not around one block", () -> w.blockize(y));
    Schedule r = new Schedule(Samples.chainOfRows(3));
    LoopRef rows = r.loops(r.block("y")).get(0);
    Refusal.of(r, "blockize", 3, "not a constant", () -> r.blockize(rows));
  }

  @Test
  void refusesWhatIsNoTile() {
    Schedule s = new Schedule(Samples.chain(8, 6));
    List<LoopRef> y = s.loops(s.block("y"));
    Schedule.Halves i = s.split(y.get(0), 2);
    s.reorder(i.inner(), i.outer());
    Refusal.of(s, "blockize", 4, "consecutive", () -> s.blockize(i.outer()));
    Refusal.of(s, "vectorize", 4, "not directly", () -> s.vectorize(i.outer()));
    PrimFunc func = Samples.chain(5, 6);
    Schedule t = new Schedule(func);
    List<LoopRef> z = t.loops(t.block("y"));
    Schedule.Halves j = t.split(z.get(0), 2);
    Schedule.Halves o = t.split(j.outer(), 2);
    t.reorder(z.get(1), o.outer(), o.inner(), j.inner());
    t.blockize(o.inner());
    Outcome.keepsResults(func, t);
  }

  @Test
  void aPredicateOverTilesOfTwoVariablesIsRefused() {
    // Of 3 rows of 4, numbered through and cut after 8: the end of them is no end of a row.
    Schedule s = new Schedule(Samples.chain(3, 4));
    LoopRef all = s.fuse(s.loops(s.block("y")).get(0), s.loops(s.block("y")).get(1));
    LoopRef pairs = s.split(s.split(s.split(all, 8).inner(), 4).inner(), 2).inner();
    String why = "a predicate of block y is not about whole tiles";
    Refusal.of(s, "blockize", 5, why, () -> s.blockize(pairs));
  }
}
