package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.order.BlockOrder.Grouped;
import dev.warpwright.ir.order.BlockOrder.Row;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.schedule.Functions;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Work that is more than the tiles of one product: streamK and mergeGrids. */
final class WorkListsTest {
  // --- streamK

  private record Tiled(PrimFunc func, Schedule s, LoopRef rows, LoopRef columns, LoopRef k) {}

  private static Tiled tiled() {
    PrimFunc func = Samples.matmul(6, 4, 10);
    Schedule s = new Schedule(func);
    List<LoopRef> l = s.loops(s.block("c"));
    Schedule.Halves m = s.split(l.get(0), 2);
    Schedule.Halves n = s.split(l.get(1), 4);
    Schedule.Halves k = s.split(l.get(2), 2);
    s.reorder(m.outer(), n.outer(), k.outer(), m.inner(), n.inner(), k.inner());
    return new Tiled(func, s, m.outer(), n.outer(), k.outer());
  }

  @Test
  void streamK() {
    Tiled t = tiled();
    LoopRef x = t.s().blockOrder(t.rows(), t.columns(), new Grouped(2));
    t.s().streamK(x, t.k(), 4);
    Outcome.is(
        t.func(),
        t.s(),
        """
        primfunc f(a: f32[6, 10], b: f32[10, 4], c: f32[6, 4]) {
          for i_o_j_o_k_o_o in 4 [columns = 1, order = "grouped:2", steps = 5, turns = 1] {
            for i_o_j_o_k_o_i in 4 {
              for i_i in 2 {
                for j_i in 4 {
                  for k_i in 2 {
                    block c(i: spatial(6) = (i_o_j_o_k_o_o * 4 + i_o_j_o_k_o_i) / 5 * 2 + i_i, j: spatial(4) = 0 * 4 + j_i, k: reduce(10) = (i_o_j_o_k_o_o * 4 + i_o_j_o_k_o_i) % 5 * 2 + k_i) where i_o_j_o_k_o_o * 4 + i_o_j_o_k_o_i < 15 {
                      reads a[i, k], b[k, j]
                      writes c[i, j]
                      init {
                        c[i, j] = 0.0f32
                      }
                      c[i, j] = fma(a[i, k], b[k, j], c[i, j])
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
  void streamKRefuses() {
    Tiled t = tiled();
    Schedule s = t.s();
    Refusal.of(s, "streamK", 3, "not all there is", () -> s.streamK(t.rows(), t.k(), 4));
    Refusal.of(s, "streamK", 4, "0 workers", () -> s.streamK(t.columns(), t.k(), 0));
    List<LoopRef> l = s.loops(s.block("c"));
    Refusal.of(s, "streamK", 5, "each other through c", () -> s.streamK(t.k(), l.get(3), 4));
    s.unroll(t.k());
    Refusal.of(s, "streamK", 2, "not serial", () -> s.streamK(t.columns(), t.k(), 4));
    LoopRef x = s.blockOrder(t.rows(), t.columns(), new Row());
    Refusal.of(s, "streamK", 1, "no loop over", () -> s.streamK(t.rows(), x, 4));
    Schedule u = new Schedule(Samples.chainOfRows(3));
    List<LoopRef> y = u.loops(u.block("y"));
    Refusal.of(u, "streamK", 2, "not a constant", () -> u.streamK(y.get(0), y.get(1), 4));
    Schedule v = new Schedule(Samples.chain(4, 6));
    List<LoopRef> z = v.loops(v.block("y"));
    Schedule.Halves j = v.split(z.get(1), 2);
    v.tensorize(v.block("y"), j.outer(), Attrs.NONE);
    Refusal.of(v, "streamK", 3, "in blocks", () -> v.streamK(z.get(0), j.outer(), 4));
  }

  // --- mergeGrids

  /** Two products, h = a · b and y = h · c, in rows of tiles. */
  private static PrimFunc twoProducts() {
    Buffer a = Samples.global("a", 6, 4);
    Buffer b = Samples.global("b", 4, 8);
    Buffer c = Samples.global("c", 8, 5);
    Buffer h = Samples.global("h", 6, 8);
    Buffer y = Samples.global("y", 6, 5);
    return Functions.function(
        List.of(a, b, c, y), Functions.product(h, a, b, false), Functions.product(y, h, c, false));
  }

  private static LoopRef tiles(Schedule s, String block, long rows, long columns) {
    List<LoopRef> l = s.loops(s.block(block));
    Schedule.Halves m = s.split(l.get(0), rows);
    Schedule.Halves n = s.split(l.get(1), columns);
    s.reorder(m.outer(), n.outer(), m.inner(), n.inner());
    return s.blockOrder(m.outer(), n.outer(), new Row());
  }

  @Test
  void oneAfterTheOther() {
    PrimFunc func = Samples.chainOfRows(3);
    Schedule s = new Schedule(func);
    LoopRef h = s.loops(s.block("h")).get(0);
    LoopRef y = s.loops(s.block("y")).get(0);
    LoopRef work = s.mergeGrids(h, y, WorkOrder.SEQUENCE, WaitPolicy.TILE);
    s.persistent(work, 4);
    Outcome.is(
        func,
        s,
        """
        primfunc f(x: f32[M, 3], y: f32[M, 3], M: i32 in 0..2147483647) {
          alloc h: f32[M, 3] global
          persistent i_i in M + M [blocks = 4, columns = 1, order = "sequence/row/row", secondColumns = 1, wait = "tile", waits = "h"] {
            if i_i < M {
              for j in 3 {
                block h(i: spatial(M) = i_i, j_1: spatial(3) = j) {
                  reads x[i, j_1]
                  writes h[i, j_1]
                  h[i, j_1] = x[i, j_1] * 2.0f32
                }
              }
            } else {
              for j in 3 {
                block y(i: spatial(M) = i_i - M, j_1: spatial(3) = j) {
                  reads h[i, j_1]
                  writes y[i, j_1]
                  y[i, j_1] = h[i, j_1] + 1.0f32
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void rowByRow() {
    PrimFunc func = twoProducts();
    Schedule s = new Schedule(func);
    LoopRef h = tiles(s, "h", 2, 4);
    LoopRef y = tiles(s, "y", 2, 3);
    LoopRef work = s.mergeGrids(h, y, WorkOrder.ROWS, WaitPolicy.ROW);
    s.persistent(work, 3);
    Outcome.is(
        func,
        s,
        """
        primfunc f(a: f32[6, 4], b: f32[4, 8], c: f32[8, 5], y: f32[6, 5]) {
          alloc h: f32[6, 8] global
          persistent i_o_j_o_i_o_j_o in 12 [blocks = 3, columns = 2, order = "rows", secondColumns = 2, wait = "row", waits = "h"] {
            if i_o_j_o_i_o_j_o % 4 < 2 {
              for i_i in 2 {
                for j_i in 4 {
                  for k in 4 {
                    block h(i: spatial(6) = i_o_j_o_i_o_j_o / 4 * 2 + i_i, j: spatial(8) = i_o_j_o_i_o_j_o % 4 * 4 + j_i, k_1: reduce(4) = k) {
                      reads a[i, k_1], b[k_1, j]
                      writes h[i, j]
                      init {
                        h[i, j] = 0.0f32
                      }
                      h[i, j] = fma(a[i, k_1], b[k_1, j], h[i, j])
                    }
                  }
                }
              }
            } else {
              for i_i in 2 {
                for j_i in 3 {
                  for k in 8 {
                    block y(i: spatial(6) = i_o_j_o_i_o_j_o / 4 * 2 + i_i, j: spatial(5) = (i_o_j_o_i_o_j_o % 4 - 2) * 3 + j_i, k_1: reduce(8) = k) where (i_o_j_o_i_o_j_o % 4 - 2) * 3 + j_i < 5 {
                      reads h[i, k_1], c[k_1, j]
                      writes y[i, j]
                      init {
                        y[i, j] = 0.0f32
                      }
                      y[i, j] = fma(h[i, k_1], c[k_1, j], y[i, j])
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
  void tileStatementsToo() {
    PrimFunc func = twoProducts();
    Schedule s = new Schedule(func);
    LoopRef h = tiles(s, "h", 2, 4);
    LoopRef y = tiles(s, "y", 3, 5);
    s.tensorize(s.block("h"), h, Attrs.NONE);
    s.tensorize(s.block("y"), y, Attrs.NONE);
    LoopRef work = s.mergeGrids(h, y, WorkOrder.SEQUENCE, WaitPolicy.GRID);
    s.persistent(work, 3);
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void mergeGridsRefuses() {
    Schedule s = new Schedule(twoProducts());
    LoopRef h = tiles(s, "h", 2, 4);
    LoopRef y = tiles(s, "y", 2, 3);
    WorkOrder sequence = WorkOrder.SEQUENCE;
    WaitPolicy tile = WaitPolicy.TILE;
    Refusal.of(s, "mergeGrids", 2, "right after", () -> s.mergeGrids(y, h, sequence, tile));
    s.setScope(s.buffer("h"), Scope.SHARED);
    Refusal.of(s, "mergeGrids", 4, "global memory", () -> s.mergeGrids(h, y, sequence, tile));
    s.setScope(s.buffer("h"), Scope.GLOBAL);
    LoopRef work = s.mergeGrids(h, y, sequence, tile);
    Refusal.of(s, "mergeGrids", 1, "no loop over", () -> s.mergeGrids(h, work, sequence, tile));

    Schedule t = new Schedule(twoProducts());
    LoopRef g = t.loops(t.block("h")).get(0);
    LoopRef z = tiles(t, "y", 2, 3);
    Refusal.of(
        t, "mergeGrids", 5, "numbers of rows", () -> t.mergeGrids(g, z, WorkOrder.ROWS, tile));
    t.unroll(g);
    Refusal.of(t, "mergeGrids", 2, "not serial", () -> t.mergeGrids(g, z, sequence, tile));

    Schedule u = new Schedule(twoProducts());
    List<LoopRef> k = u.loops(u.block("h"));
    u.reorder(k.get(2), k.get(0));
    LoopRef rows = u.loops(u.block("y")).get(0);
    Refusal.of(u, "mergeGrids", 3, "through h", () -> u.mergeGrids(k.get(2), rows, sequence, tile));

    Schedule v = new Schedule(twoProducts());
    LoopRef upper = tiles(v, "h", 2, 4);
    List<LoopRef> l = v.loops(v.block("y"));
    v.split(l.get(0), 2);
    List<LoopRef> m = v.loops(v.block("y"));
    v.reorder(l.get(1), m.get(0));
    LoopRef columns = v.split(l.get(1), 2).outer();
    Refusal.of(
        v,
        "mergeGrids",
        5,
        "computed later",
        () -> v.mergeGrids(upper, columns, WorkOrder.ROWS, tile));

    Schedule w = new Schedule(twoProducts());
    LoopRef lower = tiles(w, "h", 2, 4);
    LoopRef taller = tiles(w, "y", 3, 3);
    Refusal.of(
        w,
        "mergeGrids",
        6,
        "numbers of rows",
        () -> w.mergeGrids(lower, taller, sequence, WaitPolicy.ROW));

    Schedule batches = new Schedule(twoProducts());
    LoopRef before = tiles(batches, "h", 2, 4);
    LoopRef after = tiles(batches, "y", 2, 3);
    for (WaitPolicy more : List.of(WaitPolicy.GRID, WaitPolicy.rows(2))) {
      Refusal.of(
          batches,
          "mergeGrids",
          7,
          "rows of tiles behind its own",
          () -> batches.mergeGrids(before, after, WorkOrder.ROWS, more));
    }
  }

  /** A second loop that reads nothing of the first waits for nothing. */
  @Test
  void independentGrids() {
    Buffer x = Samples.global("x", 4);
    Buffer h = Samples.global("h", 4);
    Buffer y = Samples.global("y", 4);
    PrimFunc func =
        Functions.function(
            List.of(x, h, y),
            Functions.elementwise(h, at -> dev.warpwright.ir.Exprs.f32(1)),
            Functions.elementwise(y, at -> new dev.warpwright.ir.Expr.Load(x, at)));
    Schedule s = new Schedule(func);
    LoopRef work =
        s.mergeGrids(
            s.loops(s.block("h")).get(0),
            s.loops(s.block("y")).get(0),
            WorkOrder.SEQUENCE,
            WaitPolicy.ROW);
    s.persistent(work, 2);
    assertThat(dev.warpwright.ir.text.IrPrinter.text(s.func()))
        .contains("[blocks = 2, columns = 1, order = \"sequence/row/row\", secondColumns = 1]");
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void mergeGridsKeepsWhatIsWritten() {
    Buffer x = Samples.global("x", 4);
    Buffer h = Samples.global("h", 4);
    Buffer y = Samples.global("y", 4);
    Schedule t =
        new Schedule(
            Functions.function(
                List.of(x, h, y),
                Functions.elementwise(h, at -> new dev.warpwright.ir.Expr.Load(y, at)),
                Functions.elementwise(y, at -> new dev.warpwright.ir.Expr.Load(h, at))));
    Refusal.of(
        t,
        "mergeGrids",
        4,
        "both loops touch y",
        () ->
            t.mergeGrids(
                t.loops(t.block("h")).get(0),
                t.loops(t.block("y")).get(0),
                WorkOrder.SEQUENCE,
                WaitPolicy.TILE));
  }
}
