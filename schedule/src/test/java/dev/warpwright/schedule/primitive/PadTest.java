package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.Schedule.Halves;
import org.junit.jupiter.api.Test;

final class PadTest {
  private static Schedule cached(PrimFunc func) {
    Schedule s = new Schedule(func);
    BlockRef c = s.block("c");
    s.cacheWrite(c, Scope.LOCAL);
    s.cacheRead(s.buffer("a"), Scope.SHARED, c);
    s.cacheRead(s.buffer("b"), Scope.SHARED, c);
    return s;
  }

  @Test
  void operandsAreZeroWhereNothingIs() {
    PrimFunc func = Samples.matmul(3, 2, 5);
    Schedule s = cached(func);
    s.pad(s.block("c"), 4L, 2L, 4L);
    Outcome.is(
        func,
        s,
        """
        primfunc f(a: f32[3, 5], b: f32[5, 2], c: f32[3, 2]) {
          alloc c_local: f32[4, 2] local
          alloc a_shared: f32[4, 8] shared
          for v0 in 4 {
            for v1 in 8 {
              block a_shared(v0_1: spatial(4) = v0, v1_1: spatial(8) = v1) {
                reads a[v0_1, v1_1]
                writes a_shared[v0_1, v1_1]
                a_shared[v0_1, v1_1] = select(v0_1 < 3 && v1_1 < 5, a[v0_1, v1_1], 0.0f32)
              }
            }
          }
          alloc b_shared: f32[8, 2] shared
          for v0 in 8 {
            for v1 in 2 {
              block b_shared(v0_1: spatial(8) = v0, v1_1: spatial(2) = v1) {
                reads b[v0_1, v1_1]
                writes b_shared[v0_1, v1_1]
                b_shared[v0_1, v1_1] = select(v0_1 < 5, b[v0_1, v1_1], 0.0f32)
              }
            }
          }
          for i in 4 {
            for j in 2 {
              for k in 8 {
                block c(i_1: spatial(4) = i, j_1: spatial(2) = j, k_1: reduce(8) = k) {
                  reads a_shared[i_1, k_1], b_shared[k_1, j_1]
                  writes c_local[i_1, j_1]
                  init {
                    c_local[i_1, j_1] = 0.0f32
                  }
                  c_local[i_1, j_1] = fma(a_shared[i_1, k_1], b_shared[k_1, j_1], c_local[i_1, j_1])
                }
              }
            }
          }
          for v0 in 3 {
            for v1 in 2 {
              block c_write(v0_1: spatial(3) = v0, v1_1: spatial(2) = v1) {
                reads c_local[v0_1, v1_1]
                writes c[v0_1, v1_1]
                c[v0_1, v1_1] = c_local[v0_1, v1_1]
              }
            }
          }
        }
        """);
  }

  @Test
  void beyondEdgesOfTheResultTheLastElementIsReadAgain() {
    PrimFunc func = Samples.matmul(3, 3, 5);
    Schedule s = cached(func);
    s.padRepeating(s.block("c"), java.util.List.of(4L, 4L, 4L));
    org.assertj.core.api.Assertions.assertThat(dev.warpwright.ir.text.IrPrinter.text(s.func()))
        .contains(
            "a_shared[v0_1, v1_1] = select(v1_1 < 5, a[min(v0_1, 2), v1_1], 0.0f32)",
            "b_shared[v0_1, v1_1] = select(v0_1 < 5, b[v0_1, min(v1_1, 2)], 0.0f32)",
            "for v0 in 3 {\n    for v1 in 3 {\n      block c_write");
    Outcome.keepsResults(func, s);
    Outcome.replays(func, s);
  }

  @Test
  void ofRowsOfWholeVectorsTheLastVectorIsReadAgain() {
    PrimFunc func = Samples.matmul(3, 6, 5);
    Schedule s = cached(func);
    s.padRepeating(s.block("c"), java.util.List.of(4L, 4L, 4L));
    org.assertj.core.api.Assertions.assertThat(dev.warpwright.ir.text.IrPrinter.text(s.func()))
        .contains("b[v0_1, min(v1_1 / 2, 2) * 2 + v1_1 % 2], 0.0f32)");
    Outcome.keepsResults(func, s);
    Outcome.replays(func, s);
  }

  @Test
  void wholeTilesNeedNothing() {
    PrimFunc func = Samples.matmul(4, 2, 8);
    Schedule s = cached(func);
    String before = s.func().toString();
    s.pad(s.block("c"), 4L, 2L, 4L);
    org.assertj.core.api.Assertions.assertThat(s.func().toString()).hasSameSizeAs(before);
    Outcome.keepsResults(func, s);
  }

  @Test
  void tilesOfPaddedSumsHaveNoConditions() {
    PrimFunc func = Samples.matmul(5, 7, 6);
    Schedule s = cached(func);
    s.pad(s.block("c"), 4L, 4L, 4L);
    Halves i = s.split(s.loops(s.block("c_write")).getFirst(), 4);
    s.computeAt(s.block("c"), i.outer());
    Halves k = s.split(s.loops(s.block("c")).getLast(), 4);
    s.reorder(k.outer(), s.loops(s.block("c")).get(1));
    s.computeAt(s.block("a_shared"), k.outer());
    s.compactAll();
    org.assertj.core.api.Assertions.assertThat(
            dev.warpwright.ir.text.IrPrinter.text(s.func()).lines())
        .filteredOn(line -> line.contains("block ") && line.contains(" where "))
        .singleElement()
        .asString()
        .contains("block c_write");
    Outcome.keepsResults(func, s);
    Outcome.replays(func, s);
  }

  @Test
  void refuses() {
    Schedule s = cached(Samples.matmul(3, 2, 5));
    BlockRef c = s.block("c");
    Refusal.of(s, "pad", 1, "no block z", () -> s.pad(new BlockRef("z"), 1L));
    Refusal.of(s, "pad", 1, "positive numbers", () -> s.pad(c, 4L, 4L));
    Refusal.of(s, "pad", 1, "positive numbers", () -> s.pad(c, 4L, 0L, 4L));
    Refusal.of(s, "pad", 2, "no sum of products", () -> s.pad(s.block("a_shared"), 4L, 4L));

    Schedule parameters = new Schedule(Samples.matmul(3, 2, 5));
    Refusal.of(
        parameters, "pad", 4, "parameter", () -> parameters.pad(parameters.block("c"), 4L, 4L, 4L));

    Schedule tiled = cached(Samples.matmul(3, 2, 5));
    tiled.split(tiled.loops(tiled.block("c")).getFirst(), 2);
    Refusal.of(tiled, "pad", 3, "condition", () -> tiled.pad(tiled.block("c"), 4L, 4L, 4L));

    Schedule even = cached(Samples.matmul(4, 2, 5));
    even.split(even.loops(even.block("c")).getFirst(), 2);
    Refusal.of(even, "pad", 3, "alone in loops", () -> even.pad(even.block("c"), 4L, 4L, 4L));

    Schedule layout = cached(Samples.matmul(3, 2, 5));
    layout.storageAlign(layout.buffer("a_shared"), 0, 8, 1);
    Refusal.of(layout, "pad", 4, "layout already", () -> layout.pad(layout.block("c"), 4L, 4L, 4L));
  }
}
