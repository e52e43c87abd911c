package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.schedule.BufferRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import org.junit.jupiter.api.Test;

final class StorageAlignTest {
  @Test
  void gapsBetweenRows() {
    PrimFunc func = Samples.chain(4, 6);
    Schedule s = new Schedule(func);
    s.storageAlign(s.buffer("h"), 0, 8, 1);
    Outcome.is(
        func,
        s,
        """
        primfunc f(x: f32[4, 6], y: f32[4, 6]) {
          alloc h: f32[4, 6] global layout (4:9),(6:1)
          for i in 4 {
            for j in 6 {
              block h(i_1: spatial(4) = i, j_1: spatial(6) = j) {
                reads x[i_1, j_1]
                writes h[i_1, j_1]
                h[i_1, j_1] = x[i_1, j_1] * 2.0f32
              }
            }
          }
          for i in 4 {
            for j in 6 {
              block y(i_1: spatial(4) = i, j_1: spatial(6) = j) {
                reads h[i_1, j_1]
                writes y[i_1, j_1]
                y[i_1, j_1] = h[i_1, j_1] + 1.0f32
              }
            }
          }
        }
        """);
  }

  @Test
  void refuses() {
    Schedule s = new Schedule(Samples.chain(4, 6));
    BufferRef h = s.buffer("h");
    BufferRef z = new BufferRef("z");
    Refusal.of(s, "storageAlign", 1, "no buffer z", () -> s.storageAlign(z, 0, 8, 1));
    Refusal.of(s, "storageAlign", 1, "parameter", () -> s.storageAlign(s.buffer("x"), 0, 8, 1));
    Refusal.of(s, "storageAlign", 3, "none but the last", () -> s.storageAlign(h, 1, 8, 1));
    Refusal.of(s, "storageAlign", 3, "none but the last", () -> s.storageAlign(h, -1, 8, 1));
    Refusal.of(s, "storageAlign", 4, "leaves 8", () -> s.storageAlign(h, 0, 8, 8));
    Refusal.of(s, "storageAlign", 4, "divided by 0", () -> s.storageAlign(h, 0, 0, 0));
    s.setScope(h, Scope.FRAGMENT);
    Refusal.of(s, "storageAlign", 2, "fragment", () -> s.storageAlign(h, 0, 8, 1));
    s.setScope(h, Scope.SHARED);
    s.storageAlign(h, 0, 8, 1);
    Refusal.of(s, "storageAlign", 2, "layout already", () -> s.storageAlign(h, 0, 8, 1));
    Schedule t = new Schedule(Samples.chainOfRows(3));
    Refusal.of(t, "storageAlign", 2, "symbolic", () -> t.storageAlign(t.buffer("h"), 0, 8, 1));
  }
}
