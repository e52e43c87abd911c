package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.schedule.BufferRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import org.junit.jupiter.api.Test;

final class TransformLayoutTest {
  @Test
  void dimensionsInAnotherOrder() {
    PrimFunc func = Samples.chain(4, 6);
    Schedule s = new Schedule(func);
    s.transformLayout(s.buffer("h"), 1, 0);
    Outcome.is(
        func,
        s,
        """
        primfunc f(x: f32[4, 6], y: f32[4, 6]) {
          alloc h: f32[6, 4] global
          for i in 4 {
            for j in 6 {
              block h(i_1: spatial(4) = i, j_1: spatial(6) = j) {
                reads x[i_1, j_1]
                writes h[j_1, i_1]
                h[j_1, i_1] = x[i_1, j_1] * 2.0f32
              }
            }
          }
          for i in 4 {
            for j in 6 {
              block y(i_1: spatial(4) = i, j_1: spatial(6) = j) {
                reads h[j_1, i_1]
                writes y[i_1, j_1]
                y[i_1, j_1] = h[j_1, i_1] + 1.0f32
              }
            }
          }
        }
        """);
  }

  @Test
  void aTransposedCopyIsComputedWhereItIsNeeded() {
    PrimFunc func = Samples.chain(8, 6);
    Schedule s = new Schedule(func);
    s.transformLayout(s.buffer("h"), 1, 0);
    s.computeAt(s.block("h"), s.split(s.loops(s.block("y")).getFirst(), 4).outer());
    s.compactAll();
    Outcome.keepsResults(func, s);
    Outcome.replays(func, s);
  }

  @Test
  void refuses() {
    Schedule s = new Schedule(Samples.chain(4, 6));
    BufferRef h = s.buffer("h");
    String name = "transformLayout";
    Refusal.of(s, name, 1, "no buffer z", () -> s.transformLayout(new BufferRef("z"), 1, 0));
    Refusal.of(s, name, 1, "parameter", () -> s.transformLayout(s.buffer("x"), 1, 0));
    Refusal.of(s, name, 3, "each of the 2 dimensions", () -> s.transformLayout(h, 1, 1));
    Refusal.of(s, name, 3, "each of the 2 dimensions", () -> s.transformLayout(h, 0));
    s.setScope(h, Scope.FRAGMENT);
    Refusal.of(s, name, 2, "layout already", () -> s.transformLayout(h, 1, 0));
    s.setScope(h, Scope.SHARED);
    s.storageAlign(h, 0, 8, 1);
    Refusal.of(s, name, 2, "layout already", () -> s.transformLayout(h, 1, 0));
    Schedule tiles = new Schedule(Samples.chain(4, 6));
    tiles.tensorize(tiles.block("h"), Attrs.NONE);
    Refusal.of(
        tiles, name, 4, "tile statement", () -> tiles.transformLayout(tiles.buffer("h"), 1, 0));
    Schedule rows = new Schedule(Samples.chainOfRows(3));
    Refusal.of(rows, name, 5, "not constant", () -> rows.transformLayout(rows.buffer("h"), 1, 0));
  }
}
