package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.order.Combine;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.Functions;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Refusal;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.analysis.Accesses;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reductions taken apart: rfactor and splitK. */
final class RfactorTest {
  @Test
  void partsOfAProduct() {
    PrimFunc func = Samples.matmul(2, 3, 8);
    Schedule s = new Schedule(func);
    LoopRef k = s.loops(s.block("c")).get(2);
    s.rfactor(s.block("c"), s.split(k, 4).outer(), 0);
    Outcome.is(
        func,
        s,
        """
        primfunc f(a: f32[2, 8], b: f32[8, 3], c: f32[2, 3]) {
          alloc c_rf: f32[2, 2, 3] global
          for i in 2 {
            for j in 3 {
              for k_o in 2 {
                for k_i in 4 {
                  block c_rf(vk_o: spatial(2) = k_o, i_1: spatial(2) = i, j_1: spatial(3) = j, vk_i: reduce(4) = k_i) {
                    reads a[i_1, vk_o * 4 + vk_i], b[vk_o * 4 + vk_i, j_1]
                    writes c_rf[vk_o, i_1, j_1]
                    init {
                      c_rf[vk_o, i_1, j_1] = 0.0f32
                    }
                    c_rf[vk_o, i_1, j_1] = fma(a[i_1, vk_o * 4 + vk_i], b[vk_o * 4 + vk_i, j_1], c_rf[vk_o, i_1, j_1])
                  }
                }
              }
            }
          }
          for i in 2 {
            for j in 3 {
              for k_o in 2 {
                block c(i_1: spatial(2) = i, j_1: spatial(3) = j, vk_o: reduce(2) = k_o) {
                  reads c_rf[vk_o, i_1, j_1]
                  writes c[i_1, j_1]
                  init {
                    c[i_1, j_1] = 0.0f32
                  }
                  c[i_1, j_1] = c[i_1, j_1] + c_rf[vk_o, i_1, j_1]
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void aLoopThatIsAllOfTheReduction() {
    PrimFunc func = Samples.matmul(2, 3, 4);
    Schedule s = new Schedule(func);
    s.rfactor(s.block("c"), s.loops(s.block("c")).get(2), 2);
    Outcome.is(
        func,
        s,
        """
        primfunc f(a: f32[2, 4], b: f32[4, 3], c: f32[2, 3]) {
          alloc c_rf: f32[2, 3, 4] global
          for i in 2 {
            for j in 3 {
              for k in 4 {
                block c_rf(vk: spatial(4) = k, i_1: spatial(2) = i, j_1: spatial(3) = j) {
                  reads a[i_1, vk], b[vk, j_1]
                  writes c_rf[i_1, j_1, vk]
                  c_rf[i_1, j_1, vk] = fma(a[i_1, vk], b[vk, j_1], 0.0f32)
                }
              }
            }
          }
          for i in 2 {
            for j in 3 {
              for k in 4 {
                block c(i_1: spatial(2) = i, j_1: spatial(3) = j, vk: reduce(4) = k) {
                  reads c_rf[i_1, j_1, vk]
                  writes c[i_1, j_1]
                  init {
                    c[i_1, j_1] = 0.0f32
                  }
                  c[i_1, j_1] = c[i_1, j_1] + c_rf[i_1, j_1, vk]
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void theInnerLoopSoThatLanesSum() {
    PrimFunc func = Samples.centred(4, 8);
    Schedule s = new Schedule(func);
    List<LoopRef> l = s.loops(s.block("s"));
    Schedule.Halves k = s.split(l.get(1), 4);
    s.rfactor(s.block("s"), k.inner(), 1);
    s.vectorize(k.inner());
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void aMaximum() {
    PrimFunc func = maximum(4, 6);
    Schedule s = new Schedule(func);
    Schedule.Halves k = s.split(s.loops(s.block("s")).get(1), 3);
    s.rfactor(s.block("s"), k.outer(), 1);
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  /** {@code s[i] = max over k of x[i, k], at least 0; y = x - s}. */
  static PrimFunc maximum(long m, long n) {
    PrimFunc sums = Samples.centred(m, n);
    Buffer s = ((Stmt.Alloc) sums.body()).buffer();
    Stmt body =
        new Rewriter() {
          @Override
          public Expr expr(Expr e) {
            return e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
                    && op == BinaryOp.ADD
                    && a instanceof Expr.Load load
                    && load.buffer() == s
                ? Exprs.max(a, b)
                : super.expr(e);
          }
        }.stmt(sums.body());
    return sums.withBody(body);
  }

  @Test
  void symbolicRowsStayFirst() {
    ScalarParam m = Functions.rows();
    PrimFunc func = Functions.mlp(DType.F16, m.var(), m, 8, 5);
    Schedule s = new Schedule(func);
    BlockRef acc = s.block("acc0");
    LoopRef k = s.split(s.loops(acc).get(2), 2).outer();
    Refusal.of(s, "rfactor", 7, "stays first", () -> s.rfactor(acc, k, 0));
    s.rfactor(acc, k, 1);
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void rfactorRefuses() {
    Schedule s = new Schedule(Samples.matmul(4, 6, 7));
    BlockRef c = s.block("c");
    List<LoopRef> l = s.loops(c);
    Refusal.of(s, "rfactor", 1, "no block z", () -> s.rfactor(new BlockRef("z"), l.get(2), 0));
    Refusal.of(s, "rfactor", 4, "spatial", () -> s.rfactor(c, l.get(1), 0));
    Refusal.of(s, "rfactor", 7, "no place 3", () -> s.rfactor(c, l.get(2), 3));
    Schedule.Halves k = s.split(l.get(2), 2);
    Refusal.of(s, "rfactor", 1, "no loop over k", () -> s.rfactor(c, l.get(2), 0));
    Refusal.of(s, "rfactor", 5, "about the reduction", () -> s.rfactor(c, k.outer(), 0));
    s.unroll(k.inner());
    Refusal.of(s, "rfactor", 4, "not serial", () -> s.rfactor(c, k.inner(), 0));

    Schedule t = new Schedule(Samples.chain(4, 6));
    List<LoopRef> y = t.loops(t.block("y"));
    Refusal.of(t, "rfactor", 2, "no sum", () -> t.rfactor(t.block("y"), y.get(0), 0));
    Refusal.of(t, "rfactor", 1, "not around", () -> t.rfactor(t.block("h"), y.get(0), 0));

    Schedule u = new Schedule(Samples.centred(4, 6));
    u.computeAt(u.block("s"), u.loops(u.block("y")).get(0));
    LoopRef inner = u.loops(u.block("s")).getLast();
    Refusal.of(u, "rfactor", 3, "alone", () -> u.rfactor(u.block("s"), inner, 0));

    Schedule v = new Schedule(Samples.matmul(4, 6, 8));
    List<LoopRef> w = v.loops(v.block("c"));
    v.reorder(w.get(2), w.get(1));
    LoopRef mixed = v.fuse(w.get(2), w.get(1));
    Refusal.of(v, "rfactor", 4, "spatial", () -> v.rfactor(v.block("c"), mixed, 0));
  }

  @Test
  void rfactorNeedsNamedElements() {
    PrimFunc func = Samples.centred(4, 6);
    Buffer s = ((Stmt.Alloc) func.body()).buffer();
    Buffer wide = Samples.global("wide", 5);
    Stmt body =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt st) {
            return st instanceof Stmt.Store store && store.buffer() == s
                ? new Stmt.Store(wide, shifted(store.indices()), expr(store.value()))
                : super.stmt(st);
          }

          @Override
          public Expr expr(Expr e) {
            return e instanceof Expr.Load load && load.buffer() == s
                ? new Expr.Load(wide, shifted(load.indices()))
                : super.expr(e);
          }

          @Override
          public Region region(Region region) {
            return region.buffer() == s
                ? Accesses.point(wide, shifted(List.of(region.ranges().getFirst().min())))
                : super.region(region);
          }
        }.stmt(((Stmt.Alloc) func.body()).body());
    Schedule t = new Schedule(func.withBody(new Stmt.Alloc(wide, body)));
    LoopRef k = t.loops(t.block("s")).get(1);
    Refusal.of(t, "rfactor", 6, "that its variables name", () -> t.rfactor(t.block("s"), k, 0));
  }

  private static List<Expr> shifted(List<Expr> indices) {
    return List.of(Exprs.add(indices.getFirst(), 1));
  }

  // --- splitK

  @Test
  void splitKThroughMemory() {
    PrimFunc func = Samples.matmul(2, 3, 8);
    Schedule s = new Schedule(func);
    Schedule.Parts parts = s.splitK(s.block("c"), 2, Combine.WORKSPACE);
    s.bind(parts.part(), ThreadAxis.BLOCK_Z);
    Outcome.is(
        func,
        s,
        """
        primfunc f(a: f32[2, 8], b: f32[8, 3], c: f32[2, 3]) {
          alloc c_rf: f32[2, 2, 3] global
          for i in 2 {
            for j in 3 {
              bind k_o: blockIdx.z in 2 {
                for k_i in 4 {
                  block c_rf(vk_o: spatial(2) = k_o, i_1: spatial(2) = i, j_1: spatial(3) = j, vk_i: reduce(4) = k_i) {
                    reads a[i_1, vk_o * 4 + vk_i], b[vk_o * 4 + vk_i, j_1]
                    writes c_rf[vk_o, i_1, j_1]
                    init {
                      c_rf[vk_o, i_1, j_1] = 0.0f32
                    }
                    c_rf[vk_o, i_1, j_1] = fma(a[i_1, vk_o * 4 + vk_i], b[vk_o * 4 + vk_i, j_1], c_rf[vk_o, i_1, j_1])
                  }
                }
              }
            }
          }
          for i in 2 {
            for j in 3 {
              for k_o in 2 {
                block c(i_1: spatial(2) = i, j_1: spatial(3) = j, vk_o: reduce(2) = k_o) {
                  reads c_rf[vk_o, i_1, j_1]
                  writes c[i_1, j_1]
                  init {
                    c[i_1, j_1] = 0.0f32
                  }
                  c[i_1, j_1] = c[i_1, j_1] + c_rf[vk_o, i_1, j_1]
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void splitKInTurns() {
    PrimFunc func = Samples.matmul(4, 6, 8);
    Schedule s = new Schedule(func);
    Schedule.Parts parts = s.splitK(s.block("c"), 2, Combine.TURNS);
    List<LoopRef> l = s.loops(s.block("c"));
    Schedule.Halves m = s.split(l.get(0), 2);
    Schedule.Halves n = s.split(l.get(1), 3);
    s.reorder(m.outer(), n.outer(), parts.turn(), m.inner(), n.inner());
    s.computeAt(parts.partial(), parts.turn());
    s.setScope(s.buffer("c_rf"), Scope.LOCAL);
    s.compactAll();
    s.bind(m.outer(), ThreadAxis.BLOCK_Y);
    s.bind(n.outer(), ThreadAxis.BLOCK_X);
    Outcome.is(
        func,
        s,
        """
        primfunc f(a: f32[4, 8], b: f32[8, 6], c: f32[4, 6]) {
          bind i_o: blockIdx.y in 2 {
            bind j_o: blockIdx.x in 2 {
              for k_o in 2 [turns = 1] {
                alloc c_rf: f32[1, 2, 3] local
                for vk_o in 1 {
                  for i in 2 {
                    for j in 3 {
                      for vk_i in 4 {
                        block c_rf(vk_o_1: spatial(2) = k_o + vk_o, i_1: spatial(4) = i_o * 2 + i, j_1: spatial(6) = j_o * 3 + j, vk_i_1: reduce(4) = vk_i) {
                          reads a[i_1, vk_o_1 * 4 + vk_i_1], b[vk_o_1 * 4 + vk_i_1, j_1]
                          writes c_rf[vk_o_1 - k_o, i_1 - i_o * 2, j_1 - j_o * 3]
                          init {
                            c_rf[vk_o_1 - k_o, i_1 - i_o * 2, j_1 - j_o * 3] = 0.0f32
                          }
                          c_rf[vk_o_1 - k_o, i_1 - i_o * 2, j_1 - j_o * 3] = fma(a[i_1, vk_o_1 * 4 + vk_i_1], b[vk_o_1 * 4 + vk_i_1, j_1], c_rf[vk_o_1 - k_o, i_1 - i_o * 2, j_1 - j_o * 3])
                        }
                      }
                    }
                  }
                }
                for i_i in 2 {
                  for j_i in 3 {
                    block c(i: spatial(4) = i_o * 2 + i_i, j: spatial(6) = j_o * 3 + j_i, vk_o: reduce(2) = k_o) {
                      reads c_rf[vk_o - k_o, i - i_o * 2, j - j_o * 3]
                      writes c[i, j]
                      init {
                        c[i, j] = 0.0f32
                      }
                      c[i, j] = c[i, j] + c_rf[vk_o - k_o, i - i_o * 2, j - j_o * 3]
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
  void splitKOfPaddedDepth() {
    PrimFunc func = Samples.matmul(2, 3, 7);
    Schedule s = new Schedule(func);
    Refusal.of(
        s, "splitK", 3, "2 parts do not divide", () -> s.splitK(s.block("c"), 2, Combine.TURNS));
    s.cacheRead(s.buffer("a"), Scope.GLOBAL, s.block("c"));
    s.cacheRead(s.buffer("b"), Scope.GLOBAL, s.block("c"));
    s.cacheWrite(s.block("c"), Scope.GLOBAL);
    s.pad(s.block("c"), 1L, 1L, 2L);
    s.splitK(s.block("c"), 2, Combine.WORKSPACE);
    Outcome.replays(func, s);
    Outcome.keepsResults(func, s);
  }

  @Test
  void splitKRefuses() {
    Schedule s = new Schedule(Samples.matmul(4, 6, 8));
    Combine way = Combine.WORKSPACE;
    BlockRef z = new BlockRef("z");
    Refusal.of(s, "splitK", 1, "no block z", () -> s.splitK(z, 2, way));
    Refusal.of(s, "splitK", 3, "0 parts", () -> s.splitK(s.block("c"), 0, way));
    Schedule t = new Schedule(Samples.chain(4, 6));
    Refusal.of(t, "splitK", 2, "no loop of one", () -> t.splitK(t.block("y"), 2, way));
    LoopRef k = s.split(s.loops(s.block("c")).get(2), 2).outer();
    Refusal.of(s, "splitK", 2, "no loop of one", () -> s.splitK(s.block("c"), 2, way));
    s.unroll(k);
    Schedule u = new Schedule(Samples.matmul(4, 6, 8));
    u.unroll(u.loops(u.block("c")).get(2));
    Refusal.of(u, "splitK", 4, "not serial", () -> u.splitK(u.block("c"), 2, way));
  }
}
