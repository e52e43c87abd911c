package dev.warpwright.sim.flow;

import static dev.warpwright.sim.flow.Flows.clean;
import static dev.warpwright.sim.flow.Flows.found;
import static dev.warpwright.sim.flow.Flows.parse;
import static dev.warpwright.sim.flow.Flows.run;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.Finding;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** What pipes, roles and signals do. */
class PipeExecutionTest {
  /** Blocks add up parts of a tile; whoever is last, of either order, stores all of it. */
  private static final String PARTS =
      """
      primfunc f(a: f32[24, 8], y: f32[8, 8]) {
        bind bx: blockIdx.x in 6 {
          alloc acc: f32[4, 8] fragment
          tile.copy acc[0 +: 4, 0 +: 8] <- a[bx * 4 +: 4, 0 +: 8]
          combine acc at bx % 2 part bx / 2 of 3 {
            tile.copy y[bx % 2 * 4 +: 4, 0 +: 8] <- acc[0 +: 4, 0 +: 8]
          }
        }
      }
      """;

  @Test
  void partsAreAddedInTheirOrder() {
    Flows.clean(
        PARTS,
        """
        primfunc f(a: f32[24, 8], y: f32[8, 8]) {
          for i in 8 { for j in 8 {
            y[i, j] = a[i, j] + a[i + 8, j] + a[i + 16, j]
          } }
        }
        """,
        "y");
  }

  @Test
  void aPartComesOnce() {
    Flows.found(
        PARTS.replace("part bx / 2", "part bx / 4"),
        Options.CHECKED,
        Finding.Kind.PIPE,
        "part 0 of tile 0, of 3 parts, came before");
  }

  private static final String HEAD = "primfunc f(a: f32[8, 16], y: f32[8, 16], c: i32[4]) {\n";

  /** What most programs here compute. */
  private static final String TWICE =
      HEAD + "for i in 8 { tile.map (j in 16) { y[i, j] = a[i, j] * 2.0f32 } } }";

  private static String program(String body) {
    return HEAD + body + "}";
  }

  private static final String LOAD = "produce p { tile.copy t[0 +: 16] <- a[i, 0 +: 16] }";
  private static final String MATH = "consume p { tile.map (j in 16) { y[i, j] = t[j] * 2.0f32 } }";

  private static String roles(String pipe, String load, String math) {
    return program(
        String.format(
            Locale.ROOT,
            """
            %s
            roles {
              role load warps 1 { %s }
              role math warps 4 { %s }
            }
            """,
            pipe,
            load,
            math));
  }

  @Test
  void aloneItIsAQueue() {
    clean(program("pipe p[1] shared (t: f32[16]) for i in 8 { " + LOAD + MATH + " }"), TWICE, "y");
    // All first, then all.
    clean(
        program(
            "pipe p[8] shared (t: f32[16]) for i in 8 { " + LOAD + "} for i in 8 {" + MATH + " }"),
        TWICE,
        "y");
  }

  @Test
  void moreThanFitsDoesNotFit() {
    found(
        program(
            "pipe p[7] shared (t: f32[16]) for i in 8 { " + LOAD + "} for i in 8 {" + MATH + " }"),
        Options.EXACT,
        Finding.Kind.DEADLOCK,
        "the program waits for an empty stage of 'p' (7 of 7 stages full, 7 filled and 0 read");
    found(
        program("pipe p[7] shared (t: f32[16]) for i in 8 { " + MATH + LOAD + " }"),
        Options.EXACT,
        Finding.Kind.DEADLOCK,
        "the program waits for a full stage of 'p' (0 of 7 stages full, 0 filled and 0 read");
  }

  @Test
  void rolesAtOnce() {
    for (int stages = 1; stages <= 3; stages++) {
      String pipe = "pipe p[" + stages + "] shared (t: f32[16])";
      clean(roles(pipe, "for i in 8 {" + LOAD + "}", "for i in 8 {" + MATH + "}"), TWICE, "y");
    }
  }

  @Test
  void holdAndLagTakeStages() {
    String load = "for i in 8 {" + LOAD + "}";
    String math = "for i in 8 {" + MATH + "}";
    clean(roles("pipe p[4] shared (t: f32[16]) hold 2 lag 1", load, math), TWICE, "y");
    Options late = Options.CHECKED.asLateAsAllowed();
    // Exactly as many as are needed, and one less.
    clean(roles("pipe p[3] shared (t: f32[16]) hold 1 lag 1", load, math), TWICE, "y");
    found(
        roles("pipe p[2] shared (t: f32[16]) hold 1 lag 1", load, math),
        late,
        Finding.Kind.DEADLOCK,
        "load waits for an empty stage of 'p'");
  }

  @Test
  void broadcastToAllInstances() {
    clean(
        program(
            String.format(
                Locale.ROOT,
                """
                pipe p[2] shared (t: f32[16]) broadcast
                roles {
                  role load warps 1 { for i in 8 { %s } }
                  role math[2] as g warps 4 {
                    for i in 8 { consume p { tile.map (j in 8) { y[i, g * 8 + j] = t[g * 8 + j] * 2.0f32 } } }
                  }
                }
                """,
                LOAD)),
        TWICE,
        "y");
  }

  @Test
  void instancesInTurn() {
    String text =
        program(
            String.format(
                Locale.ROOT,
                """
                pipe p[2] shared (t: f32[16])
                roles {
                  role load warps 1 { for i in 8 { %s } }
                  role math[2] as g warps 4 {
                    for k in 4 {
                      let i: i32 = k * 2 + g
                      skip p by g
                      %s
                      skip p by 1 - g
                    }
                  }
                }
                """,
                LOAD,
                MATH));
    clean(text, TWICE, "y");
    found(
        text.replace("skip p by g\n", ""),
        Options.CHECKED,
        Finding.Kind.PIPE,
        "of 'p' was read by another instance");
  }

  @Test
  void aPipeOfEachInstance() {
    clean(
        program(
            String.format(
                Locale.ROOT,
                """
                roles {
                  role math[2] as g warps 4 {
                    pipe p[2] local (t: f32[16]) lag 1
                    for k in 4 {
                      let i: i32 = k * 2 + g
                      %s
                      %s
                    }
                  }
                }
                """,
                LOAD,
                MATH)),
        TWICE,
        "y");
  }

  @Test
  void tokensAndScalars() {
    clean(
        program(
            """
            alloc s: f32[16] shared
            pipe free[1] shared () initial 1
            pipe work[1] shared (item: i32[])
            roles {
              role load warps 1 {
                for i in 8 {
                  consume free { }
                  tile.copy s[0 +: 16] <- a[7 - i, 0 +: 16]
                  produce work { item[] = 7 - i }
                }
              }
              role math warps 4 {
                for i in 8 {
                  consume work { tile.map (j in 16) { y[item[], j] = s[j] * 2.0f32 } }
                  produce free { }
                }
              }
            }
            """),
        TWICE,
        "y");
  }

  @Test
  void aStageIsForgottenWhenItIsReleased() {
    String half =
        program(
            """
            pipe p[1] shared (t: f32[16])
            for i in 8 {
              produce p { tile.copy t[0 +: 8] <- a[i, 0 +: 8] if i == 0 { t[8] = 0.0f32 } }
              consume p { y[i, 0] = t[8] }
            }
            """);
    found(half, Options.CHECKED, Finding.Kind.UNINITIALISED, "t[8]");
    PrimFunc f = parse(half);
    float[] seen = run(f, Options.EXACT).get("y").toFloats();
    assertThat(seen[0]).isZero();
    assertThat(seen[16]).isNaN();
  }

  @Test
  void peekLeavesTheStage() {
    clean(
        program(
            String.format(
                Locale.ROOT,
                """
                pipe p[1] shared (t: f32[16])
                for i in 8 {
                  %s
                  consume p peek { y[i, 0] = t[0] }
                  %s
                }
                """,
                LOAD,
                MATH)),
        TWICE,
        "y");
  }

  @Test
  void unequalCountsAtTheEnd() {
    found(
        roles(
            "pipe p[2] shared (t: f32[16])",
            "for i in 8 {" + LOAD + "}",
            "for i in 7 {" + MATH + "}"),
        Options.CHECKED,
        Finding.Kind.PIPE,
        "'p' ends with 1 full stages: 8 were filled, 7 read");
    found(
        roles(
            "pipe p[2] shared (t: f32[16])",
            "for i in 7 {" + LOAD + "}",
            "for i in 8 {" + MATH + "}"),
        Options.CHECKED,
        Finding.Kind.DEADLOCK,
        "math waits for a full stage of 'p' (0 of 2 stages full, 7 filled and 7 read so far)");
  }

  @Test
  void signalsBetweenWorkItems() {
    String text =
        program(
            """
            for i in 2 {
              persistent w in 4 {
                if i == 1 {
                  await c[w] >= 1
                  tile.map (j in 16) { y[w + 4, j] = a[w + 4, j] * y[w, j] }
                } else {
                  tile.map (j in 16) { y[w, j] = a[w, j] }
                  signal c[w] by 1
                }
              }
            }
            """);
    String plain =
        program(
            """
            tile.map (i in 4, j in 16) { y[i, j] = a[i, j] }
            tile.map (i in 4, j in 16) { y[i + 4, j] = a[i + 4, j] * a[i, j] }
            """);
    clean(text, plain, "y");
    found(
        text.replace(">= 1", ">= 2"),
        Options.CHECKED,
        Finding.Kind.DEADLOCK,
        "the program waits for counter 'c' at 0 to come to 2 (it is 1)");
  }

  @Test
  void countersStartAtZeroEachTime() {
    PrimFunc f = parse(program("signal c[1] by 2 await c[1] >= 2 y[0, 0] = a[0, 0]"));
    var arguments = dev.warpwright.sim.Arguments.random(f.params(), 3);
    var interpreter = dev.warpwright.sim.Interpreter.of(f, Options.EXACT);
    interpreter.run(arguments);
    interpreter.run(arguments);
    assertThat(dev.warpwright.sim.Arguments.random(f.params(), 3).get("c").bytes())
        .isNotEqualTo(arguments.get("c").bytes());
    assertThat(arguments.get("c").bytes()[4]).isEqualTo((byte) 2);
  }

  @Test
  void sameSeedSameTurns() {
    String text =
        roles(
            "pipe p[2] shared (t: f32[16])",
            "for i in 8 {" + LOAD + "}",
            "for i in 9 {" + MATH.replace("y[i", "y[min(i, 7)") + "}");
    PrimFunc f = parse(text);
    Options options = Options.CHECKED.withOrder(Options.Order.SHUFFLED, 5);
    String first =
        org.assertj.core.api.Assertions.catchThrowable(() -> run(f, options)).getMessage();
    String second =
        org.assertj.core.api.Assertions.catchThrowable(() -> run(f, options)).getMessage();
    assertThat(first).isEqualTo(second).contains("math waits for a full stage of 'p'");
  }
}
