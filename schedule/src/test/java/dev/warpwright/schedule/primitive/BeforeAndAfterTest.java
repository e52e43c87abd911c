package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Samples;
import dev.warpwright.schedule.Schedule;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What the primitives that have no such test elsewhere make of a small function: as written here,
 * the same when replayed, with the same results.
 */
final class BeforeAndAfterTest {
  private final PrimFunc matmul = Samples.matmul(4, 6, 8);
  private final PrimFunc chain = Samples.chain(4, 6);

  private static List<LoopRef> loops(Schedule s, String block) {
    return s.loops(s.block(block));
  }

  @Test
  void split() {
    Schedule s = new Schedule(matmul);
    s.split(loops(s, "c").get(1), 4);
    Outcome.is(
        matmul,
        s,
        """
        primfunc f(a: f32[4, 8], b: f32[8, 6], c: f32[4, 6]) {
          for i in 4 {
            for j_o in 2 {
              for j_i in 4 {
                for k in 8 {
                  block c(i_1: spatial(4) = i, j: spatial(6) = j_o * 4 + j_i, k_1: reduce(8) = k) where j_o * 4 + j_i < 6 {
                    reads a[i_1, k_1], b[k_1, j]
                    writes c[i_1, j]
                    init {
                      c[i_1, j] = 0.0f32
                    }
                    c[i_1, j] = fma(a[i_1, k_1], b[k_1, j], c[i_1, j])
                  }
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void fuse() {
    Schedule s = new Schedule(matmul);
    s.fuse(loops(s, "c").get(0), loops(s, "c").get(1));
    Outcome.is(
        matmul,
        s,
        """
        primfunc f(a: f32[4, 8], b: f32[8, 6], c: f32[4, 6]) {
          for i_j in 24 {
            for k in 8 {
              block c(i: spatial(4) = i_j / 6, j: spatial(6) = i_j % 6, k_1: reduce(8) = k) {
                reads a[i, k_1], b[k_1, j]
                writes c[i, j]
                init {
                  c[i, j] = 0.0f32
                }
                c[i, j] = fma(a[i, k_1], b[k_1, j], c[i, j])
              }
            }
          }
        }
        """);
  }

  @Test
  void reorder() {
    Schedule s = new Schedule(matmul);
    s.reorder(loops(s, "c").get(2), loops(s, "c").get(0));
    Outcome.is(
        matmul,
        s,
        """
        primfunc f(a: f32[4, 8], b: f32[8, 6], c: f32[4, 6]) {
          for k in 8 {
            for j in 6 {
              for i in 4 {
                block c(i_1: spatial(4) = i, j_1: spatial(6) = j, k_1: reduce(8) = k) {
                  reads a[i_1, k_1], b[k_1, j_1]
                  writes c[i_1, j_1]
                  init {
                    c[i_1, j_1] = 0.0f32
                  }
                  c[i_1, j_1] = fma(a[i_1, k_1], b[k_1, j_1], c[i_1, j_1])
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void kindsOfLoops() {
    Schedule s = new Schedule(matmul);
    List<LoopRef> l = loops(s, "c");
    LoopRef k = s.split(l.get(2), 2).outer();
    s.reorder(l.get(0), k, l.get(1));
    List<LoopRef> all = loops(s, "c");
    s.bind(all.get(0), ThreadAxis.BLOCK_X);
    s.pipeline(all.get(1), 3);
    s.unroll(all.get(3));
    s.annotate(all.get(2), "note", "columns");
    s.annotate(s.block("c"), "cost", 2L);
    s.annotate("threads", 64L);
    Outcome.is(
        matmul,
        s,
        """
        primfunc f(a: f32[4, 8], b: f32[8, 6], c: f32[4, 6]) [threads = 64] {
          bind i: blockIdx.x in 4 {
            pipeline k_o in 4 [stages = 3] {
              for j in 6 [note = "columns"] {
                unroll k_i in 2 {
                  block c(i_1: spatial(4) = i, j_1: spatial(6) = j, k: reduce(8) = k_o * 2 + k_i) [cost = 2] {
                    reads a[i_1, k], b[k, j_1]
                    writes c[i_1, j_1]
                    init {
                      c[i_1, j_1] = 0.0f32
                    }
                    c[i_1, j_1] = fma(a[i_1, k], b[k, j_1], c[i_1, j_1])
                  }
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void parallelAndVectorize() {
    Schedule s = new Schedule(chain);
    s.parallel(loops(s, "h").get(0));
    s.vectorize(loops(s, "y").get(1));
    Outcome.is(
        chain,
        s,
        """
        primfunc f(x: f32[4, 6], y: f32[4, 6]) {
          alloc h: f32[4, 6] global
          parallel i in 4 {
            for j in 6 {
              block h(i_1: spatial(4) = i, j_1: spatial(6) = j) {
                reads x[i_1, j_1]
                writes h[i_1, j_1]
                h[i_1, j_1] = x[i_1, j_1] * 2.0f32
              }
            }
          }
          for i in 4 {
            vector j in 6 {
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
  void computeAtAndCompact() {
    Schedule s = new Schedule(chain);
    s.computeAt(s.block("h"), s.split(loops(s, "y").get(0), 2).outer());
    s.compact(s.buffer("h"));
    Outcome.is(
        chain,
        s,
        """
        primfunc f(x: f32[4, 6], y: f32[4, 6]) {
          for i_o in 2 {
            alloc h: f32[2, 6] global
            for i in 2 {
              for j in 6 {
                block h(i_1: spatial(4) = i_o * 2 + i, j_1: spatial(6) = j) {
                  reads x[i_1, j_1]
                  writes h[i_1 - i_o * 2, j_1]
                  h[i_1 - i_o * 2, j_1] = x[i_1, j_1] * 2.0f32
                }
              }
            }
            for i_i in 2 {
              for j in 6 {
                block y(i: spatial(4) = i_o * 2 + i_i, j_1: spatial(6) = j) {
                  reads h[i - i_o * 2, j_1]
                  writes y[i, j_1]
                  y[i, j_1] = h[i - i_o * 2, j_1] + 1.0f32
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void computeInline() {
    Schedule s = new Schedule(chain);
    s.computeInline(s.block("h"));
    Outcome.is(
        chain,
        s,
        """
        primfunc f(x: f32[4, 6], y: f32[4, 6]) {
          for i in 4 {
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
  void decomposeReduction() {
    Schedule s = new Schedule(matmul);
    s.decomposeReduction(s.block("c"), loops(s, "c").get(1));
    Outcome.is(
        matmul,
        s,
        """
        primfunc f(a: f32[4, 8], b: f32[8, 6], c: f32[4, 6]) {
          for i in 4 {
            for j in 6 {
              block c_init(i_1: spatial(4) = i, j_1: spatial(6) = j) {
                writes c[i_1, j_1]
                c[i_1, j_1] = 0.0f32
              }
            }
            for j in 6 {
              for k in 8 {
                block c(i_1: spatial(4) = i, j_1: spatial(6) = j, k_1: reduce(8) = k) {
                  reads a[i_1, k_1], b[k_1, j_1]
                  writes c[i_1, j_1]
                  c[i_1, j_1] = fma(a[i_1, k_1], b[k_1, j_1], c[i_1, j_1])
                }
              }
            }
          }
        }
        """);
  }

  @Test
  void cachesAndScopes() {
    Schedule s = new Schedule(chain);
    s.cacheRead(s.buffer("x"), Scope.SHARED, s.block("h"));
    s.cacheWrite(s.block("y"), Scope.LOCAL);
    s.setScope(s.buffer("h"), Scope.SHARED);
    Outcome.is(
        chain,
        s,
        """
        primfunc f(x: f32[4, 6], y: f32[4, 6]) {
          alloc h: f32[4, 6] shared
          alloc x_shared: f32[4, 6] shared
          for v0 in 4 {
            for v1 in 6 {
              block x_shared(v0_1: spatial(4) = v0, v1_1: spatial(6) = v1) {
                reads x[v0_1, v1_1]
                writes x_shared[v0_1, v1_1]
                x_shared[v0_1, v1_1] = x[v0_1, v1_1]
              }
            }
          }
          for i in 4 {
            for j in 6 {
              block h(i_1: spatial(4) = i, j_1: spatial(6) = j) {
                reads x_shared[i_1, j_1]
                writes h[i_1, j_1]
                h[i_1, j_1] = x_shared[i_1, j_1] * 2.0f32
              }
            }
          }
          alloc y_local: f32[4, 6] local
          for i in 4 {
            for j in 6 {
              block y(i_1: spatial(4) = i, j_1: spatial(6) = j) {
                reads h[i_1, j_1]
                writes y_local[i_1, j_1]
                y_local[i_1, j_1] = h[i_1, j_1] + 1.0f32
              }
            }
          }
          for v0 in 4 {
            for v1 in 6 {
              block y_write(v0_1: spatial(4) = v0, v1_1: spatial(6) = v1) {
                reads y_local[v0_1, v1_1]
                writes y[v0_1, v1_1]
                y[v0_1, v1_1] = y_local[v0_1, v1_1]
              }
            }
          }
        }
        """);
  }

  @Test
  void transformLayout() {
    Schedule s = new Schedule(chain);
    s.transformLayout(s.buffer("h"), 1, 0);
    Outcome.is(
        chain,
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
  void pad() {
    PrimFunc func = Samples.matmul(3, 4, 5);
    Schedule s = new Schedule(func);
    BlockRef c = s.block("c");
    s.cacheRead(s.buffer("a"), Scope.SHARED, c);
    s.cacheRead(s.buffer("b"), Scope.SHARED, c);
    s.cacheWrite(c, Scope.LOCAL);
    s.pad(c, 2L, 4L, 4L);
    Outcome.is(
        func,
        s,
        """
        primfunc f(a: f32[3, 5], b: f32[5, 4], c: f32[3, 4]) {
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
          alloc b_shared: f32[8, 4] shared
          for v0 in 8 {
            for v1 in 4 {
              block b_shared(v0_1: spatial(8) = v0, v1_1: spatial(4) = v1) {
                reads b[v0_1, v1_1]
                writes b_shared[v0_1, v1_1]
                b_shared[v0_1, v1_1] = select(v0_1 < 5, b[v0_1, v1_1], 0.0f32)
              }
            }
          }
          alloc c_local: f32[4, 4] local
          for i in 4 {
            for j in 4 {
              for k in 8 {
                block c(i_1: spatial(4) = i, j_1: spatial(4) = j, k_1: reduce(8) = k) {
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
            for v1 in 4 {
              block c_write(v0_1: spatial(3) = v0, v1_1: spatial(4) = v1) {
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
  void tensorize() {
    Schedule s = new Schedule(matmul);
    LoopRef row = s.split(loops(s, "c").get(0), 2).outer();
    s.tensorize(s.block("c"), row, Attrs.NONE.with("instr", "fma"));
    Outcome.is(
        matmul,
        s,
        """
        primfunc f(a: f32[4, 8], b: f32[8, 6], c: f32[4, 6]) {
          for i_o in 2 {
            tile.fill c[i_o * 2 +: 2, 0 +: 6] = 0.0f32
            tile.mma c[i_o * 2 +: 2, 0 +: 6] += a[i_o * 2 +: 2, 0 +: 8] * b[0 +: 8, 0 +: 6] [instr = "fma"]
          }
        }
        """);
  }
}
