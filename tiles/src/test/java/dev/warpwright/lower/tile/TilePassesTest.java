package dev.warpwright.lower.tile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Programs before and behind the passes. */
class TilePassesTest {
  private static final String CHAIN =
      """
      primfunc f(A: f32[32, 64], W: f32[64, 16], V: f32[16, 8], y: f32[32, 8])%s {
        bind bx: blockIdx.x in 2 {
          alloc As: f32[8, 16] shared
          alloc Ws: f32[16, 16] shared
          alloc Vs: f32[16, 8] shared
          persistent t in 2 {
            let row: i32 = bx * 16 + t * 8
            alloc h: f32[8, 16] fragment
            alloc acc: f32[8, 8] fragment
            tile.fill h[0 +: 8, 0 +: 16] = 0.0f32
            pipeline k in 4 [stages = 3] {
              tile.copy As[0 +: 8, 0 +: 16] <- A[row +: 8, k * 16 +: 16]
              tile.copy Ws[0 +: 16, 0 +: 16] <- W[k * 16 +: 16, 0 +: 16]
              tile.mma h[0 +: 8, 0 +: 16] += As[0 +: 8, 0 +: 16] * Ws[0 +: 16, 0 +: 16]
            }
            tile.fill acc[0 +: 8, 0 +: 8] = 0.0f32
            pipeline k in 2 [stages = 3] {
              tile.copy Vs[0 +: 16, 0 +: 8] <- V[0 +: 16, 0 +: 8]
              tile.mma acc[0 +: 8, 0 +: 8] += h[0 +: 8, 0 +: 16] * Vs[0 +: 16, 0 +: 8]
            }
            tile.copy y[row +: 8, 0 +: 8] <- acc[0 +: 8, 0 +: 8]
          }
        }
      }
      """;

  private static PrimFunc parse(String text) {
    return new IrParser(name -> Optional.empty()).primFunc("test", text);
  }

  private static PrimFunc chain(String attrs) {
    return parse(String.format(Locale.ROOT, CHAIN, attrs));
  }

  @Test
  void twoLoopsFeedOneRing() {
    assertThat(IrPrinter.text(PlanPipes.apply(chain(""))))
        .isEqualTo(
            """
            primfunc f(A: f32[32, 64], W: f32[64, 16], V: f32[16, 8], y: f32[32, 8]) {
              bind bx: blockIdx.x in 2 {
                pipe ring[3] shared (As: f32[8, 16], Ws: f32[16, 16]) lead 2
                persistent t in 2 {
                  let row: i32 = bx * 16 + t * 8
                  alloc h: f32[8, 16] fragment
                  alloc acc: f32[8, 8] fragment
                  tile.fill h[0 +: 8, 0 +: 16] = 0.0f32
                  for k in 4 {
                    produce ring {
                      tile.copy As[0 +: 8, 0 +: 16] <- A[row +: 8, k * 16 +: 16]
                      tile.copy Ws[0 +: 16, 0 +: 16] <- W[k * 16 +: 16, 0 +: 16]
                    }
                    consume ring {
                      tile.mma h[0 +: 8, 0 +: 16] += As[0 +: 8, 0 +: 16] * Ws[0 +: 16, 0 +: 16]
                    }
                  }
                  tile.fill acc[0 +: 8, 0 +: 8] = 0.0f32
                  for k in 2 {
                    produce ring {
                      tile.copy Ws[0 +: 16, 0 +: 8] <- V[0 +: 16, 0 +: 8]
                    }
                    consume ring {
                      tile.mma acc[0 +: 8, 0 +: 8] += h[0 +: 8, 0 +: 16] * Ws[0 +: 16, 0 +: 8]
                    }
                  }
                  tile.copy y[row +: 8, 0 +: 8] <- acc[0 +: 8, 0 +: 8]
                }
              }
            }
            """);
  }

  /** Steps that share a stage, and what is left of them; tiles of other shapes share the ring. */
  @Test
  void slicesShareAStage() {
    String text =
        IrPrinter.text(
            PlanPipes.apply(
                new IrParser(Intrinsics::find)
                    .primFunc(
                        "test",
                        """
                        primfunc f(X: f16[64, 80], W: f16[96, 80], V: f16[112, 48], y: f32[64, 112])
                            [consumers = 1] {
                          persistent t in 1 {
                            alloc a: f16[64, 80] fragment
                            alloc h: f32[64, 96] fragment
                            alloc acc: f32[64, 112] fragment
                            tile.copy a[0 +: 64, 0 +: 80] <- X[0 +: 64, 0 +: 80]
                            pipeline k in 5 [stages = 2, slices = 3, unrolled = 1] {
                              alloc Ws: f16[96, 16] shared
                              tile.copy Ws[0 +: 96, 0 +: 16] <- W[0 +: 96, k * 16 +: 16]
                              tile.mma h[0 +: 64, 0 +: 96] += a[0 +: 64, k * 16 +: 16] * Ws[0 +: 96, 0 +: 16]^T [instr = "wgmma.m64n96k16.f32.f16.ra"]
                            }
                            pipeline k in 1 [stages = 2, slices = 3, unrolled = 1] {
                              alloc Vs: f16[112, 16] shared
                              tile.copy Vs[0 +: 112, 0 +: 16] <- V[0 +: 112, k * 16 +: 16]
                              tile.mma acc[0 +: 64, 0 +: 112] += a[0 +: 64, k * 16 +: 16] * Vs[0 +: 112, 0 +: 16]^T [instr = "wgmma.m64n112k16.f32.f16.ra"]
                            }
                            tile.copy y[0 +: 64, 0 +: 112] <- acc[0 +: 64, 0 +: 112]
                          }
                        }
                        """)));
    assertThat(text)
        .contains("pipe ring[2] shared (Ws: f16[112, 48]) lead 1")
        .contains("tile.copy Ws[0 +: 96, 0 +: 48] <- W[0 +: 96, k * 48 +: 48]")
        .contains("a[0 +: 64, k * 48 +: 48] * Ws[0 +: 96, 0 +: 48]^T")
        .contains("tile.copy Ws[0 +: 96, 0 +: 32] <- W[0 +: 96, k * 32 + 48 +: 32]")
        .contains("a[0 +: 64, k * 32 + 48 +: 32] * Ws[0 +: 96, 0 +: 32]^T")
        .contains("tile.copy Ws[0 +: 112, 0 +: 16] <- V[0 +: 112, k * 16 +: 16]")
        .doesNotContain("slices");
  }

  @Test
  void constantTilesStay() {
    assertThat(IrPrinter.text(PlanPipes.apply(chain(" [resident = 512]"))))
        .isEqualTo(
            """
            primfunc f(A: f32[32, 64], W: f32[64, 16], V: f32[16, 8], y: f32[32, 8]) {
              bind bx: blockIdx.x in 2 {
                pipe kept[1] shared (Vs: f32[1, 16, 8])
                pipe ring[3] shared (As: f32[8, 16], Ws: f32[16, 16]) lead 2
                produce kept {
                  tile.copy Vs[0, 0 +: 16, 0 +: 8] <- V[0 +: 16, 0 +: 8]
                }
                persistent t in 2 {
                  let row: i32 = bx * 16 + t * 8
                  alloc h: f32[8, 16] fragment
                  alloc acc: f32[8, 8] fragment
                  tile.fill h[0 +: 8, 0 +: 16] = 0.0f32
                  for k in 4 {
                    produce ring {
                      tile.copy As[0 +: 8, 0 +: 16] <- A[row +: 8, k * 16 +: 16]
                      tile.copy Ws[0 +: 16, 0 +: 16] <- W[k * 16 +: 16, 0 +: 16]
                    }
                    consume ring {
                      tile.mma h[0 +: 8, 0 +: 16] += As[0 +: 8, 0 +: 16] * Ws[0 +: 16, 0 +: 16]
                    }
                  }
                  tile.fill acc[0 +: 8, 0 +: 8] = 0.0f32
                  for k in 2 {
                    consume kept peek {
                      tile.mma acc[0 +: 8, 0 +: 8] += h[0 +: 8, 0 +: 16] * Vs[0, 0 +: 16, 0 +: 8]
                    }
                  }
                  tile.copy y[row +: 8, 0 +: 8] <- acc[0 +: 8, 0 +: 8]
                }
                consume kept {
                }
              }
            }
            """);
  }

  @Test
  void oneProducerAndTwoConsumers() {
    assertThat(IrPrinter.text(AssignRoles.apply(PlanPipes.apply(chain(" [consumers = 2]")))))
        .isEqualTo(
            """
            primfunc f(A: f32[32, 64], W: f32[64, 16], V: f32[16, 8], y: f32[32, 8]) {
              bind bx: blockIdx.x in 2 {
                pipe ring[3] shared (As: f32[8, 16], Ws: f32[16, 16])
                roles {
                  role load warps 1 [registers = 40] {
                    persistent t in 2 {
                      let row: i32 = bx * 16 + t * 8
                      for k in 4 {
                        produce ring {
                          tile.copy As[0 +: 8, 0 +: 16] <- A[row +: 8, k * 16 +: 16]
                          tile.copy Ws[0 +: 16, 0 +: 16] <- W[k * 16 +: 16, 0 +: 16]
                        }
                      }
                      for k in 2 {
                        produce ring {
                          tile.copy Ws[0 +: 16, 0 +: 8] <- V[0 +: 16, 0 +: 8]
                        }
                      }
                    }
                  }
                  role math[2] as g warps 4 {
                    skip ring by g * 6
                    persistent turn in (3 - g) / 2 {
                      let t: i32 = turn * 2 + g
                      {
                        let row: i32 = bx * 16 + t * 8
                        alloc h: f32[8, 16] fragment
                        alloc acc: f32[8, 8] fragment
                        tile.fill h[0 +: 8, 0 +: 16] = 0.0f32
                        for k in 4 {
                          consume ring {
                            tile.mma h[0 +: 8, 0 +: 16] += As[0 +: 8, 0 +: 16] * Ws[0 +: 16, 0 +: 16]
                          }
                        }
                        tile.fill acc[0 +: 8, 0 +: 8] = 0.0f32
                        for k in 2 {
                          consume ring {
                            tile.mma acc[0 +: 8, 0 +: 8] += h[0 +: 8, 0 +: 16] * Ws[0 +: 16, 0 +: 8]
                          }
                        }
                        tile.copy y[row +: 8, 0 +: 8] <- acc[0 +: 8, 0 +: 8]
                      }
                      skip ring by 6
                    }
                  }
                }
              }
            }
            """);
  }

  private static void refused(PrimFunc f, String why) {
    assertThatThrownBy(() -> AssignRoles.apply(f))
        .isInstanceOf(PassRefusal.class)
        .hasMessageContaining(why)
        .hasMessageNotContaining("\n");
  }

  @Test
  void whatCannotBeCut() {
    refused(chain(" [consumers = 9]"), "9 consumers of 4 warps; a block has up to 32 warps");
    refused(chain(" [consumers = 1]"), "no pipe is filled by copies from global memory alone");
    PrimFunc planned = PlanPipes.apply(chain(" [consumers = 2]"));
    refused(AssignRoles.apply(planned).withAttrs(planned.attrs()), "the program has roles already");
    refused(
        PlanPipes.apply(
            parse(
                String.format(Locale.ROOT, CHAIN, " [consumers = 2]")
                    .replace("persistent t", "for t"))),
        "0 persistent loops; several consumers take items of exactly one");
    refused(
        parse(
            IrPrinter.text(planned)
                .replace("for k in 4 {", "if y[0, 0] > 0.0f32 { for k in 4 {")
                .replace("tile.fill acc", "} tile.fill acc")),
        "the producer cannot know a condition or bound that is computed");
    refused(
        parse(
            IrPrinter.text(planned)
                .replace("for k in 4 {", "if row > 8 { for k in 4 {")
                .replace("tile.fill acc", "} tile.fill acc")),
        "how many stages of ring an item takes, differs");
  }

  /** Layers in registers: one that stays, one that flows, the same for each item. */
  private static final String LAYERS =
      """
      primfunc f(x: f32[32, 16], W: f32[2, 16, 16], y: f32[32, 16]) [consumers = 2, resident = 1024] {
        bind bx: blockIdx.x in 1 {
          alloc Ws: f32[16, 16] shared
          alloc Vs: f32[16, 16] shared
          persistent t in 4 {
            let row: i32 = t * 8
            alloc a: f32[8, 16] fragment
            alloc acc: f32[8, 16] fragment
            alloc h: f32[8, 16] fragment
            tile.copy a[0 +: 8, 0 +: 16] <- x[row +: 8, 0 +: 16] [prefetch = 1]
            tile.map (i in 8, j in 16) { h[i, j] = a[i, j] }
            tile.fill acc[0 +: 8, 0 +: 16] = 0.0f32
            pipeline k in 1 [unrolled = 1] {
              tile.copy Ws[0 +: 16, 0 +: 16] <- W[k, 0 +: 16, 0 +: 16]
              tile.mma acc[0 +: 8, 0 +: 16] += h[0 +: 8, 0 +: 16] * Ws[0 +: 16, 0 +: 16]
            }
            pipeline k in 1 [stages = 1] {
              tile.copy Vs[0 +: 16, 0 +: 16] <- W[1, 0 +: 16, 0 +: 16] [stream = 1]
              tile.mma acc[0 +: 8, 0 +: 16] += h[0 +: 8, 0 +: 16] * Vs[0 +: 16, 0 +: 16]
            }
            tile.copy y[row +: 8, 0 +: 16] <- acc[0 +: 8, 0 +: 16]
          }
        }
      }
      """;

  @Test
  void weightsOfAllItemsComeInRounds() {
    PrimFunc planned = PlanPipes.apply(parse(LAYERS));
    assertThat(IrPrinter.text(AssignRoles.apply(planned)))
        .isEqualTo(
            """
            primfunc f(x: f32[32, 16], W: f32[2, 16, 16], y: f32[32, 16]) {
              bind bx: blockIdx.x in 1 {
                pipe kept[1] shared (Ws: f32[1, 16, 16]) broadcast
                pipe ring[1] shared (Vs: f32[16, 16]) broadcast
                roles {
                  role load warps 1 [registers = 40] {
                    persistent t in 2 {
                      for k in 1 {
                        produce ring {
                          tile.copy Vs[0 +: 16, 0 +: 16] <- W[1, 0 +: 16, 0 +: 16] [stream = 1]
                        }
                        if t == 0 && k == 0 {
                          produce kept {
                            for k_1 in 1 {
                              tile.copy Ws[k_1, 0 +: 16, 0 +: 16] <- W[k_1, 0 +: 16, 0 +: 16]
                            }
                          }
                        }
                      }
                    }
                  }
                  role math[2] as g warps 4 {
                    persistent turn in (5 - g) / 2 {
                      let t: i32 = turn * 2 + g
                      let row: i32 = t * 8
                      alloc a: f32[8, 16] fragment
                      alloc acc: f32[8, 16] fragment
                      alloc h: f32[8, 16] fragment
                      tile.copy a[0 +: 8, 0 +: 16] <- x[row +: 8, 0 +: 16] [prefetch = 1]
                      tile.map (i in 8, j in 16) {
                        h[i, j] = a[i, j]
                      }
                      tile.fill acc[0 +: 8, 0 +: 16] = 0.0f32
                      unroll k in 1 {
                        consume kept peek {
                          tile.mma acc[0 +: 8, 0 +: 16] += h[0 +: 8, 0 +: 16] * Ws[k, 0 +: 16, 0 +: 16]
                        }
                      }
                      for k in 1 {
                        consume ring {
                          tile.mma acc[0 +: 8, 0 +: 16] += h[0 +: 8, 0 +: 16] * Vs[0 +: 16, 0 +: 16]
                        }
                      }
                      tile.copy y[row +: 8, 0 +: 16] <- acc[0 +: 8, 0 +: 16]
                    }
                    if (5 - g) / 2 < 2 {
                      for rest in 1 {
                        consume ring {
                        }
                      }
                    }
                    consume kept {
                    }
                  }
                }
              }
            }
            """);
  }

  @Test
  void theNextItemsInputIsOnItsWay() {
    PrimFunc func = parse(LAYERS.replace("consumers = 2, resident = 1024", "resident = 2048"));
    assertThat(IrPrinter.text(PrefetchItems.apply(func)))
        .isEqualTo(
            """
            primfunc f(x: f32[32, 16], W: f32[2, 16, 16], y: f32[32, 16]) [resident = 2048] {
              bind bx: blockIdx.x in 1 {
                alloc Ws: f32[16, 16] shared
                alloc Vs: f32[16, 16] shared
                pipe ahead[1] local (a: f32[8, 16])
                produce ahead {
                  tile.copy a[0 +: 8, 0 +: 16] <- x[0 * 8 +: 8, 0 +: 16]
                }
                persistent t in 4 {
                  let row: i32 = t * 8
                  alloc acc: f32[8, 16] fragment
                  alloc h: f32[8, 16] fragment
                  consume ahead {
                    tile.map (i in 8, j in 16) {
                      h[i, j] = a[i, j]
                    }
                  }
                  produce ahead {
                    tile.copy a[0 +: 8, 0 +: 16] <- x[(t + 1) * 8 +: 8, 0 +: 16]
                  }
                  tile.fill acc[0 +: 8, 0 +: 16] = 0.0f32
                  pipeline k in 1 [unrolled = 1] {
                    tile.copy Ws[0 +: 16, 0 +: 16] <- W[k, 0 +: 16, 0 +: 16]
                    tile.mma acc[0 +: 8, 0 +: 16] += h[0 +: 8, 0 +: 16] * Ws[0 +: 16, 0 +: 16]
                  }
                  pipeline k in 1 [stages = 1] {
                    tile.copy Vs[0 +: 16, 0 +: 16] <- W[1, 0 +: 16, 0 +: 16] [stream = 1]
                    tile.mma acc[0 +: 8, 0 +: 16] += h[0 +: 8, 0 +: 16] * Vs[0 +: 16, 0 +: 16]
                  }
                  tile.copy y[row +: 8, 0 +: 16] <- acc[0 +: 8, 0 +: 16]
                }
                consume ahead {
                }
              }
            }
            """);
  }

  @Test
  void consumersShareRows() {
    PrimFunc planned = PlanPipes.apply(chain(" [consumers = 2, share = \"rows\"]"));
    assertThat(IrPrinter.text(AssignRoles.apply(planned)))
        .isEqualTo(
            """
            primfunc f(A: f32[32, 64], W: f32[64, 16], V: f32[16, 8], y: f32[32, 8]) {
              bind bx: blockIdx.x in 2 {
                pipe ring[3] shared (As: f32[8, 16], Ws: f32[16, 16])
                roles {
                  role load warps 1 [registers = 40] {
                    persistent t in 2 {
                      let row: i32 = bx * 16 + t * 8
                      for k in 4 {
                        produce ring {
                          tile.copy As[0 +: 8, 0 +: 16] <- A[row +: 8, k * 16 +: 16]
                          tile.copy Ws[0 +: 16, 0 +: 16] <- W[k * 16 +: 16, 0 +: 16]
                        }
                      }
                      for k in 2 {
                        produce ring {
                          tile.copy Ws[0 +: 16, 0 +: 8] <- V[0 +: 16, 0 +: 8]
                        }
                      }
                    }
                  }
                  role math warps 8 {
                    persistent t in 2 {
                      let row: i32 = bx * 16 + t * 8
                      alloc h: f32[8, 16] fragment
                      alloc acc: f32[8, 8] fragment
                      tile.fill h[0 +: 8, 0 +: 16] = 0.0f32
                      for k in 4 {
                        consume ring {
                          tile.mma h[0 +: 8, 0 +: 16] += As[0 +: 8, 0 +: 16] * Ws[0 +: 16, 0 +: 16]
                        }
                      }
                      tile.fill acc[0 +: 8, 0 +: 8] = 0.0f32
                      for k in 2 {
                        consume ring {
                          tile.mma acc[0 +: 8, 0 +: 8] += h[0 +: 8, 0 +: 16] * Ws[0 +: 16, 0 +: 8]
                        }
                      }
                      tile.copy y[row +: 8, 0 +: 8] <- acc[0 +: 8, 0 +: 8]
                    }
                  }
                }
              }
            }
            """);
    refused(
        planned.withAttrs(planned.attrs().with("share", "columns")),
        "consumers share \"rows\" or \"items\", not \"columns\"");
  }

  @Test
  void whatCannotBeCopiedAhead() {
    for (String[] each :
        new String[][] {
          {"<- x[row", "<- y[row", "a is no fragment that is copied whole, from an input"},
          {"persistent t", "for t", "a is copied ahead, but not in a persistent loop"},
          {
            "tile.copy y[row +: 8, 0 +: 16] <- acc",
            "tile.copy y[row +: 8, 0 +: 16] <- a",
            "a is read later than right behind its copy"
          }
        }) {
      assertThatThrownBy(() -> PrefetchItems.apply(parse(LAYERS.replace(each[0], each[1]))))
          .isInstanceOf(PassRefusal.class)
          .hasMessage(each[2]);
    }
  }

  @Test
  void whatIsWrittenIsNotCopiedAhead() {
    // The second loop reads what the program writes: its copies stay where they are.
    String text = String.format(Locale.ROOT, CHAIN, "").replace("<- V[0 +: 16", "<- y[0 +: 16");
    String planned = IrPrinter.text(PlanPipes.apply(parse(text)));
    assertThat(planned).contains("pipe ring[3]").doesNotContain("pipe ring_1");
    assertThat(planned).contains("for k in 2 {\n        tile.copy Vs[0 +: 16, 0 +: 8] <- y[");
  }
}
