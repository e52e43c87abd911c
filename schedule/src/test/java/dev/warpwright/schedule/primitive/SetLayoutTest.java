package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Layout;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.schedule.BufferRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import org.junit.jupiter.api.Test;

final class SetLayoutTest {
  private static Layout layout(String text) {
    return IrParser.layout(text);
  }

  @Test
  void aSwizzle() {
    PrimFunc func = Samples.chain(4, 8);
    Schedule s = new Schedule(func);
    s.setLayout(s.buffer("h"), layout("(4:8),(8:1)^<2,0,3>"));
    Outcome.is(
        func,
        s,
        """
        primfunc f(x: f32[4, 8], y: f32[4, 8]) {
          alloc h: f32[4, 8] global layout (4:8),(8:1)^<2,0,3>
          for i in 4 {
            for j in 8 {
              block h(i_1: spatial(4) = i, j_1: spatial(8) = j) {
                reads x[i_1, j_1]
                writes h[i_1, j_1]
                h[i_1, j_1] = x[i_1, j_1] * 2.0f32
              }
            }
          }
          for i in 4 {
            for j in 8 {
              block y(i_1: spatial(4) = i, j_1: spatial(8) = j) {
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
  void tilesInTiles() {
    PrimFunc func = Samples.chain(4, 6);
    Schedule s = new Schedule(func);
    s.setLayout(s.buffer("h"), layout("(2:2,2:12),(2:1,3:4)"));
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void refuses() {
    Schedule s = new Schedule(Samples.chain(4, 6));
    BufferRef h = s.buffer("h");
    BufferRef z = new BufferRef("z");
    Layout rows = layout("(4:6),(6:1)");
    Refusal.of(s, "setLayout", 1, "no buffer z", () -> s.setLayout(z, rows));
    Refusal.of(s, "setLayout", 1, "parameter", () -> s.setLayout(s.buffer("x"), rows));
    Refusal.of(s, "setLayout", 3, "2 dimensions", () -> s.setLayout(h, layout("(24:1)")));
    Refusal.of(s, "setLayout", 3, "extent 6", () -> s.setLayout(h, layout("(4:6),(5:1)")));
    Refusal.of(
        s, "setLayout", 4, "element [1, 0] of h", () -> s.setLayout(h, layout("(4:5),(6:1)")));
    Refusal.of(s, "setLayout", 4, "too large", () -> s.setLayout(h, layout("(4:100000000),(6:1)")));
    s.setScope(h, Scope.FRAGMENT);
    Refusal.of(s, "setLayout", 2, "fragment", () -> s.setLayout(h, rows));
    s.setScope(h, Scope.SHARED);
    s.setLayout(h, rows);
    Refusal.of(s, "setLayout", 2, "layout already", () -> s.setLayout(h, rows));
    Schedule t = new Schedule(Samples.chainOfRows(3));
    Refusal.of(t, "setLayout", 2, "symbolic", () -> t.setLayout(t.buffer("h"), rows));
  }
}
