package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Schedule;
import org.junit.jupiter.api.Test;

final class SqueezeTest {
  static PrimFunc matrices() {
    return new IrParser()
        .file(
            "matrices",
            """
            primfunc f(x: f32[3, 4, 1], y: f32[3, 4, 1]) {
              alloc h: f32[3, 4, 1] global
              for b in 3 {
                for i in 4 {
                  for j in 1 {
                    block h(b_1: spatial(3) = b, i_1: spatial(4) = i, j_1: spatial(1) = j) {
                      reads x[b_1, i_1, j_1]
                      writes h[b_1, i_1, j_1]
                      h[b_1, i_1, j_1] = x[b_1, i_1, j_1] * 2.0f32
                    }
                  }
                }
              }
              for b in 3 {
                for i in 4 {
                  for j in 1 {
                    block y(b_1: spatial(3) = b, i_1: spatial(4) = i, j_1: spatial(1) = j) {
                      reads h[b_1, i_1, j_1]
                      writes y[b_1, i_1, j_1]
                      y[b_1, i_1, j_1] = h[b_1, i_1, j_1] + 1.0f32
                    }
                  }
                }
              }
            }
            """)
        .primFuncs()
        .getFirst();
  }

  /** One matrix at a time; the loop over its only column is not one over matrices, and stays. */
  private static Schedule oneAtATime(PrimFunc func) {
    Schedule s = new Schedule(func);
    s.computeAt(s.block("h"), s.loops(s.block("y")).getFirst());
    s.compactAll();
    return s;
  }

  @Test
  void whatIsLeftOfALoopOverMatricesGoes() {
    PrimFunc func = matrices();
    Schedule s = oneAtATime(func);
    s.squeeze();
    Outcome.is(
        func,
        s,
        """
        primfunc f(x: f32[3, 4, 1], y: f32[3, 4, 1]) {
          for b in 3 {
            alloc h: f32[4, 1] global
            for i_1 in 4 {
              for j_1 in 1 {
                block h(b_1: spatial(3) = b + 0, i_1_1: spatial(4) = i_1, j_1_1: spatial(1) = j_1) {
                  reads x[b_1, i_1_1, j_1_1]
                  writes h[i_1_1, j_1_1]
                  h[i_1_1, j_1_1] = x[b_1, i_1_1, j_1_1] * 2.0f32
                }
              }
            }
            for i in 4 {
              for j in 1 {
                block y(b_1: spatial(3) = b, i_1: spatial(4) = i, j_1: spatial(1) = j) {
                  reads h[i_1, j_1]
                  writes y[b_1, i_1, j_1]
                  y[b_1, i_1, j_1] = h[i_1, j_1] + 1.0f32
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void withNothingToDropItChangesNothing() {
    PrimFunc func = matrices();
    Schedule s = new Schedule(func);
    s.squeeze();
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void refuses() {
    Schedule tiles = oneAtATime(matrices());
    tiles.tensorize(tiles.block("h"), Attrs.NONE);
    Refusal.of(tiles, "squeeze", 1, "tile statement", tiles::squeeze);
    Schedule aligned = oneAtATime(matrices());
    aligned.storageAlign(aligned.buffer("h"), 1, 8, 1);
    Refusal.of(aligned, "squeeze", 1, "layout already", aligned::squeeze);
  }
}
