package dev.warpwright.sim.flow;

import static dev.warpwright.sim.flow.Flows.clean;
import static dev.warpwright.sim.flow.Flows.found;
import static dev.warpwright.sim.flow.Flows.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.verify.Rule;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.BothTimes;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/**
 * Races and hangs that pipelines on GPUs are known for, as small tile programs: each is refused by
 * the verifier or found in an execution that says who did what, and its mended form is clean.
 */
class PipeMuseumTest {
  private static final Options NOW = Options.CHECKED;
  private static final Options LATE = Options.CHECKED.asLateAsAllowed();

  private static final String HEAD =
      "primfunc f(a: f32[32, 8], b: f32[32, 8], y: f32[8, 8], c: i32[4]) {\n";

  /** The sum of four products of tiles. */
  private static final String GEMM =
      HEAD
          + """
            alloc acc: f32[8, 8] fragment
            tile.fill acc[0 +: 8, 0 +: 8] = 0.0f32
            for k in 4 {
              tile.mma acc[0 +: 8, 0 +: 8] += a[k * 8 +: 8, 0 +: 8] * b[k * 8 +: 8, 0 +: 8]
            }
            tile.copy y[0 +: 8, 0 +: 8] <- acc[0 +: 8, 0 +: 8]
          }
          """;

  private static String gemm(String options, String copy, String product) {
    return HEAD
        + String.format(
            Locale.ROOT,
            """
              pipe p[4] shared (s: f32[8, 8], t: f32[8, 8])%s
              roles {
                role load warps 1 {
                  for k in 4 {
                    produce p {
                      tile.copy s[0 +: 8, 0 +: 8] <- a[k * 8 +: 8, 0 +: 8]%s
                      tile.copy t[0 +: 8, 0 +: 8] <- b[k * 8 +: 8, 0 +: 8]%s
                    }
                  }
                }
                role math warps 4 {
                  alloc acc: f32[8, 8] fragment
                  tile.fill acc[0 +: 8, 0 +: 8] = 0.0f32
                  for k in 4 {
                    consume p {
                      tile.mma acc[0 +: 8, 0 +: 8] += s[0 +: 8, 0 +: 8] * t[0 +: 8, 0 +: 8]%s
                    }
                  }
                  tile.copy y[0 +: 8, 0 +: 8] <- acc[0 +: 8, 0 +: 8]
                }
              }
            }
            """,
            options,
            copy,
            copy,
            product);
  }

  @Test
  void commitEarly() {
    // The copies are under way for one more stage, but the stage is committed at once.
    String early = gemm("", " [inflight = 1]", "");
    refused(
        early, Rule.PIPES, "the copy is under way for 1 more stages, pipe 'p' commits one after 0");
    found(early, LATE, Finding.Kind.RACE, "s[0, 0]");
    Options eager = LATE.withOrder(Options.Order.REVERSE, 0);
    found(early, eager, Finding.Kind.UNINITIALISED, "s[0, 0]");
    clean(gemm(" lag 1", " [inflight = 1]", ""), GEMM, "y");
  }

  @Test
  void releaseEarly() {
    // A product of the stage before is still reading when the stage is filled again.
    String early = gemm(" hold 1", "", " [inflight = 2]").replace("p[4]", "p[2]");
    refused(early, Rule.PIPES, "the mma is under way for 2 more stages");
    found(early, LATE, Finding.Kind.UNINITIALISED, "s[0, 0]");
    clean(gemm(" hold 2", "", " [inflight = 2]"), GEMM, "y");
  }

  @Test
  void holdDropped() {
    String dropped = gemm("", "", " [inflight = 1]");
    refused(dropped, Rule.PIPES, "pipe 'p' holds a stage for 0");
    found(dropped, LATE, Finding.Kind.UNINITIALISED, "s[0, 0]");
    clean(gemm(" hold 1", "", " [inflight = 1]"), GEMM, "y");
  }

  @Test
  void theRingIsShorterThanWhatIsAhead() {
    String ahead =
        HEAD
            + """
              pipe p[%d] shared (t: f32[8, 8]) lead 2
              for i in 4 + 2 {
                if i < 4 {
                  produce p { tile.copy t[0 +: 8, 0 +: 8] <- a[i * 8 +: 8, 0 +: 8] }
                }
                if i >= 2 {
                  consume p { tile.map (j in 8) { y[i - 2, j] = t[0, j] } }
                }
              }
            }
            """;
    refused(
        String.format(Locale.ROOT, ahead, 2),
        Rule.PIPES,
        "pipe 'p' has 2 stages; hold 0, lag 0 and lead 2 take 3");
    found(
        String.format(Locale.ROOT, ahead, 2),
        NOW,
        Finding.Kind.DEADLOCK,
        "the program waits for an empty stage of 'p' (2 of 2 stages full, 2 filled and 0 read");
    clean(
        String.format(Locale.ROOT, ahead, 3),
        HEAD + "tile.map (i in 4, j in 8) { y[i, j] = a[i * 8, j] } }",
        "y");
  }

  /** Two pipes, filled in one order and read in another one. */
  private static String two(String stages, String first, String second) {
    return HEAD
        + String.format(
            Locale.ROOT,
            """
              pipe p[%s] shared (s: f32[8, 8])
              pipe q[1] shared (t: f32[8, 8])
              roles {
                role load warps 1 {
                  produce p { tile.copy s[0 +: 8, 0 +: 8] <- a[0 +: 8, 0 +: 8] }
                  produce p { tile.copy s[0 +: 8, 0 +: 8] <- a[8 +: 8, 0 +: 8] }
                  produce q { tile.copy t[0 +: 8, 0 +: 8] <- b[0 +: 8, 0 +: 8] }
                }
                role math warps 4 {
                  alloc acc: f32[8, 8] fragment
                  alloc ss: f32[8, 8] fragment
                  tile.fill acc[0 +: 8, 0 +: 8] = 0.0f32
                  %s
                  %s
                  tile.copy y[0 +: 8, 0 +: 8] <- acc[0 +: 8, 0 +: 8]
                }
              }
            }
            """,
            stages,
            first,
            second);
  }

  @Test
  void twoPipesInOppositeOrder() {
    String p =
        """
        consume p { tile.map (i in 8, j in 8) { acc[i, j] = acc[i, j] + s[i, j] } }
        consume p { tile.map (i in 8, j in 8) { acc[i, j] = acc[i, j] + s[i, j] } }
        """;
    String q = "consume q { tile.map (i in 8, j in 8) { acc[i, j] = acc[i, j] + t[i, j] } }";
    String plain =
        HEAD
            + """
              alloc acc: f32[8, 8] fragment
              tile.fill acc[0 +: 8, 0 +: 8] = 0.0f32
              tile.map (i in 8, j in 8) { acc[i, j] = acc[i, j] + %s }
              tile.map (i in 8, j in 8) { acc[i, j] = acc[i, j] + %s }
              tile.map (i in 8, j in 8) { acc[i, j] = acc[i, j] + %s }
              tile.copy y[0 +: 8, 0 +: 8] <- acc[0 +: 8, 0 +: 8]
            }
            """;
    // Nothing in the structure is wrong: whether it fits depends on the stages.
    assertThat(Verifier.verify(Flows.parse(two("1", q, p)))).isEmpty();
    for (Options way : Flows.WAYS) {
      found(
          two("1", q, p),
          way,
          Finding.Kind.DEADLOCK,
          "load waits for an empty stage of 'p' (1 of 1 stages full, 1 filled and 0 read so far)");
      found(
          two("1", q, p),
          way,
          Finding.Kind.DEADLOCK,
          "math waits for a full stage of 'q' (0 of 1 stages full, 0 filled and 0 read so far)");
    }
    clean(
        two("1", p, q),
        String.format(Locale.ROOT, plain, "a[i, j]", "a[i + 8, j]", "b[i, j]"),
        "y");
    clean(
        two("2", q, p),
        String.format(Locale.ROOT, plain, "b[i, j]", "a[i, j]", "a[i + 8, j]"),
        "y");
  }

  @Test
  void wrongRole() {
    String wrong =
        gemm("", "", "")
            .replace(
                "tile.fill acc",
                "produce p { tile.copy s[0 +: 8, 0 +: 8] <- a[0 +: 8, 0 +: 8] }\ntile.fill acc");
    refused(wrong, Rule.PIPES, "pipe 'p' is filled by role 'load' and role 'math'");
    // Both fill the first stage: the second to come waits for what is not its turn any more.
    found(wrong, NOW, Finding.Kind.DEADLOCK, "math waits for an empty stage of 'p'");
    clean(gemm("", "", ""), GEMM, "y");
  }

  private static String handed(String write, String read) {
    return HEAD
        + String.format(
            Locale.ROOT,
            """
              roles {
                role first warps 1 { %s }
                role second warps 1 { %s }
              }
            }
            """,
            write,
            read);
  }

  @Test
  void signalBeforeTheWrite() {
    String write = "tile.copy y[0 +: 4, 0 +: 8] <- a[0 +: 4, 0 +: 8]\n";
    String signal = "signal c[0] by 1\n";
    String read = "await c[0] >= 1\ntile.copy y[4 +: 4, 0 +: 8] <- y[0 +: 4, 0 +: 8]\n";
    refused(
        handed(signal + write, read),
        Rule.ROLES,
        "'y' is written by role 'first' and read by role 'second'");
    // Also where the write happens to come first.
    for (Options way : Flows.WAYS) {
      found(
          handed(signal + write, read),
          way,
          Finding.Kind.RACE,
          "with no pipe or signal in between");
    }
    clean(
        handed(write + signal, read),
        HEAD + "tile.map (i in 8, j in 8) { y[i, j] = a[i % 4, j] } }",
        "y");
  }

  @Test
  void awaitOneTooFew() {
    String write =
        """
        for i in 2 {
          tile.copy y[i * 2 +: 2, 0 +: 8] <- a[i * 2 +: 2, 0 +: 8]
          signal c[0] by 1
        }
        """;
    String read = "await c[0] >= %d tile.copy y[4 +: 4, 0 +: 8] <- y[0 +: 4, 0 +: 8]";
    String few = handed(write, String.format(Locale.ROOT, read, 1));
    assertThat(Verifier.verify(Flows.parse(few))).isEmpty();
    found(
        few,
        NOW.withOrder(Options.Order.REVERSE, 0),
        Finding.Kind.RACE,
        "write by first and access by second with no pipe or signal in between");
    found(
        handed(write, String.format(Locale.ROOT, read, 3)),
        NOW,
        Finding.Kind.DEADLOCK,
        "second waits for counter 'c' at 0 to come to 3 (it is 2)");
    clean(
        handed(write, String.format(Locale.ROOT, read, 2)),
        HEAD + "tile.map (i in 8, j in 8) { y[i, j] = a[i % 4, j] } }",
        "y");
  }

  /** A ring by hand: a buffer whose use is passed to and fro by tokens. */
  private static String byHand(String read) {
    return HEAD
        + String.format(
            Locale.ROOT,
            """
              alloc s: f32[8, 8] shared
              pipe empty[1] shared () initial 1
              pipe full[1] shared ()
              roles {
                role load warps 1 {
                  for k in 4 {
                    consume empty { }
                    tile.copy s[0 +: 8, 0 +: 8] <- a[k * 8 +: 8, 0 +: 8]
                    produce full { }
                  }
                }
                role math warps 4 {
                  for k in 4 {
                    consume full { }
                    %s
                  }
                }
              }
            }
            """,
            read);
  }

  @Test
  void theTokenGoesBackBeforeTheRead() {
    String read = "tile.map (j in 8) { y[k, j] = s[0, j] }\n";
    String back = "produce empty { }\n";
    String early = byHand(back + read);
    // The order of the text allows it: the next turn's token might be meant.
    found(early, NOW, Finding.Kind.RACE, "s[0, 0]");
    clean(byHand(read + back), HEAD + "tile.map (k in 4, j in 8) { y[k, j] = a[k * 8, j] } }", "y");
  }

  @Test
  void resultsThatDependOnWhenCopiesComplete() {
    PrimFunc early = Flows.parse(gemm("", " [inflight = 1]", ""));
    Options untracked = Options.EXACT.withOrder(Options.Order.REVERSE, 0);
    Arguments arguments = Arguments.random(early.params(), 7);
    assertThatThrownBy(() -> BothTimes.run(early, arguments, untracked))
        .isInstanceOf(SimulationError.class)
        .hasMessageContaining("y[offset 0]")
        .hasMessageContaining("the results differ");
    PrimFunc mended = Flows.parse(gemm(" lag 1", " [inflight = 1]", ""));
    BothTimes.run(mended, Arguments.random(mended.params(), 7), untracked);
  }
}
