package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.order.BlockOrder.Explicit;
import dev.warpwright.ir.order.BlockOrder.Grouped;
import dev.warpwright.ir.order.BlockOrder.Row;
import dev.warpwright.ir.order.BlockOrder.Tile;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tiles and who computes them: orders, persistent blocks, clusters, roles. */
final class TilesTest {
  private record Tiled(PrimFunc func, Schedule s, LoopRef rows, LoopRef columns, LoopRef k) {}

  /** A product in tiles of 2 x 3, with a copy of a in shared memory. */
  private static Tiled tiled() {
    PrimFunc func = Samples.matmul(6, 7, 4);
    Schedule s = new Schedule(func);
    BlockRef c = s.block("c");
    BlockRef a = s.cacheRead(s.buffer("a"), Scope.SHARED, c);
    List<LoopRef> l = s.loops(c);
    Schedule.Halves m = s.split(l.get(0), 2);
    Schedule.Halves n = s.split(l.get(1), 3);
    Schedule.Halves k = s.split(l.get(2), 2);
    s.reorder(m.outer(), n.outer(), k.outer(), m.inner(), n.inner(), k.inner());
    s.computeAt(a, k.outer());
    s.compactAll();
    return new Tiled(func, s, m.outer(), n.outer(), k.outer());
  }

  // --- blockOrder

  @Test
  void blockOrder() {
    PrimFunc func = Samples.chain(4, 6);
    Schedule s = new Schedule(func);
    List<LoopRef> y = s.loops(s.block("y"));
    s.computeInline(s.block("h"));
    s.blockOrder(y.get(0), y.get(1), new Grouped(2));
    Outcome.is(
        func,
        s,
        """
        primfunc f(x: f32[4, 6], y: f32[4, 6]) {
          for i_j in 24 [columns = 6, order = "grouped:2"] {
            block y(i: spatial(4) = i_j / 6, j: spatial(6) = i_j % 6) {
              reads x[i, j]
              writes y[i, j]
              y[i, j] = x[i, j] * 2.0f32 + 1.0f32
            }
          }
        }
        """);
  }

  @Test
  void blockOrderRefuses() {
    Tiled t = tiled();
    Schedule s = t.s();
    Row row = new Row();
    Refusal.of(s, "blockOrder", 3, "not all", () -> s.blockOrder(t.columns(), t.rows(), row));
    List<LoopRef> l = s.loops(s.block("c"));
    LoopRef i = l.get(3);
    LoopRef k = l.get(5);
    Schedule u = new Schedule(Samples.matmul(2, 3, 4));
    List<LoopRef> c = u.loops(u.block("c"));
    Refusal.of(
        u, "blockOrder", 4, "each other through c", () -> u.blockOrder(c.get(1), c.get(2), row));
    Explicit few = new Explicit(List.of(new Tile(0, 0)));
    Refusal.of(
        u, "blockOrder", 5, "1 tiles for a grid", () -> u.blockOrder(c.get(0), c.get(1), few));
    u.unroll(c.get(1));
    Refusal.of(u, "blockOrder", 2, "not serial", () -> u.blockOrder(c.get(0), c.get(1), row));
    LoopRef x = s.blockOrder(t.rows(), t.columns(), row);
    Refusal.of(s, "blockOrder", 1, "no loop over", () -> s.blockOrder(t.rows(), i, row));
    Refusal.of(s, "split", 5, "order of their own", () -> s.split(x, 2));
    Refusal.of(s, "fuse", 5, "order of their own", () -> s.fuse(x, t.k()));
    Outcome.keepsResults(t.func(), s);

    Schedule v = new Schedule(Samples.chainOfRows(3));
    List<LoopRef> y = v.loops(v.block("y"));
    Refusal.of(v, "blockOrder", 5, "not a constant", () -> v.blockOrder(y.get(0), y.get(1), few));
    v.reorder(y.get(1), y.get(0));
    Refusal.of(v, "blockOrder", 3, "not a constant", () -> v.blockOrder(y.get(1), y.get(0), row));
  }

  @Test
  void explicitOrder() {
    PrimFunc func = Samples.matmul(1, 2, 3);
    Schedule s = new Schedule(func);
    List<LoopRef> l = s.loops(s.block("c"));
    s.blockOrder(l.get(0), l.get(1), new Explicit(List.of(new Tile(0, 1), new Tile(0, 0))));
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  // --- persistent

  @Test
  void persistent() {
    PrimFunc func = Samples.chain(4, 6);
    Schedule s = new Schedule(func);
    s.computeInline(s.block("h"));
    s.persistent(s.loops(s.block("y")).get(0), 3);
    Outcome.is(
        func,
        s,
        """
        primfunc f(x: f32[4, 6], y: f32[4, 6]) {
          persistent i in 4 [blocks = 3] {
            for j in 6 {
              block y(i_1: spatial(4) = i, j_1: spatial(6) = j) {
                reads x[i_1, j_1]
                writes y[i_1, j_1]
                y[i_1, j_1] = x[i_1, j_1] * 2.0f32 + 1.0f32
              }
            }
          }
        }
        """);
  }

  @Test
  void persistentRefuses() {
    Schedule s = new Schedule(Samples.chain(4, 6));
    List<LoopRef> h = s.loops(s.block("h"));
    List<LoopRef> y = s.loops(s.block("y"));
    Refusal.of(s, "persistent", 3, "0 blocks", () -> s.persistent(y.get(0), 0));
    s.bind(h.get(0), ThreadAxis.BLOCK_X);
    Refusal.of(s, "persistent", 4, "shared out", () -> s.persistent(y.get(0), 2));
    Refusal.of(s, "persistent", 2, "not serial", () -> s.persistent(h.get(0), 2));
    Schedule t = new Schedule(Samples.matmul(2, 3, 4));
    LoopRef k = t.loops(t.block("c")).get(2);
    Refusal.of(t, "persistent", 5, "depend on each other", () -> t.persistent(k, 2));
    t.split(k, 2);
    Refusal.of(t, "persistent", 1, "no loop over k", () -> t.persistent(k, 2));
  }

  // --- cluster, multicast, roles

  @Test
  void everythingAboutTiles() {
    Tiled t = tiled();
    Schedule s = t.s();
    LoopRef x = s.blockOrder(t.rows(), t.columns(), new Grouped(2));
    s.persistent(x, 4);
    s.pipeline(t.k(), 3);
    s.cluster(1, 2);
    s.multicast(s.block("a_shared"));
    s.roles(1, 2);
    s.tensorize(s.block("a_shared"), t.k(), Attrs.NONE);
    Outcome.is(
        t.func(),
        s,
        """
        primfunc f(a: f32[6, 4], b: f32[4, 7], c: f32[6, 7]) [clusterM = 1, clusterN = 2, consumers = 2, producers = 1] {
          persistent i_o_j_o in 9 [blocks = 4, columns = 3, order = "grouped:2"] {
            pipeline k_o in 2 [stages = 3] {
              alloc a_shared: f32[2, 2] shared
              tile.copy a_shared[0 +: 2, 0 +: 2] <- a[i_o_j_o / 3 * 2 +: 2, k_o * 2 +: 2] [multicast = "true"]
              for i_i in 2 {
                for j_i in 3 {
                  for k_i in 2 {
                    block c(i: spatial(6) = i_o_j_o / 3 * 2 + i_i, j: spatial(7) = i_o_j_o % 3 * 3 + j_i, k: reduce(4) = k_o * 2 + k_i) where i_o_j_o % 3 * 3 + j_i < 7 {
                      reads a_shared[i - i_o_j_o / 3 * 2, k - k_o * 2], b[k, j]
                      writes c[i, j]
                      init {
                        c[i, j] = 0.0f32
                      }
                      c[i, j] = fma(a_shared[i - i_o_j_o / 3 * 2, k - k_o * 2], b[k, j], c[i, j])
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
  void clusterRefuses() {
    Tiled t = tiled();
    Schedule s = t.s();
    Refusal.of(s, "cluster", 3, "shared out", () -> s.cluster(1, 2));
    s.bind(t.rows(), ThreadAxis.BLOCK_X);
    Refusal.of(s, "cluster", 1, "0 x 2", () -> s.cluster(0, 2));
    Refusal.of(s, "cluster", 2, "9 blocks", () -> s.cluster(3, 3));
    s.cluster(2, 1);
  }

  @Test
  void rolesRefuse() {
    Tiled t = tiled();
    Schedule s = t.s();
    Refusal.of(s, "roles", 3, "no loop is pipelined", () -> s.roles(1, 2));
    s.pipeline(t.k(), 2);
    Refusal.of(s, "roles", 1, "0 producers", () -> s.roles(0, 2));
    Refusal.of(s, "roles", 2, "9 warpgroups", () -> s.roles(1, 8));
  }

  @Test
  void multicastRefuses() {
    Tiled t = tiled();
    Schedule s = t.s();
    BlockRef a = s.block("a_shared");
    Refusal.of(s, "multicast", 1, "no block z", () -> s.multicast(new BlockRef("z")));
    Refusal.of(s, "multicast", 2, "not a copy", () -> s.multicast(s.block("c")));
    Refusal.of(s, "multicast", 3, "no cluster", () -> s.multicast(a));
    s.bind(t.rows(), ThreadAxis.BLOCK_X);
    s.cluster(2, 1);
    Refusal.of(s, "multicast", 4, "another tile", () -> s.multicast(a));
    s.bind(t.columns(), ThreadAxis.BLOCK_Y);
    s.multicast(a);
    Schedule u = new Schedule(Samples.chain(4, 6));
    u.bind(u.loops(u.block("h")).get(0), ThreadAxis.BLOCK_X);
    u.cluster(2, 1);
    BlockRef x = u.cacheRead(u.buffer("h"), Scope.SHARED, u.block("y"));
    Refusal.of(u, "multicast", 4, "in no loop", () -> u.multicast(x));
  }
}
