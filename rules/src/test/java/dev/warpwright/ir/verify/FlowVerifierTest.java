package dev.warpwright.ir.verify;

import static dev.warpwright.ir.verify.BrokenRules.PARSER;
import static dev.warpwright.ir.verify.BrokenRules.expect;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** What is wrong with pipes, roles and signals. */
class FlowVerifierTest {
  private static final String HEAD =
      "primfunc f(a: f32[8, 16], y: f32[8, 16], c: i32[4]) [constants = \"a\"] {\n";

  private static void broken(String body, Rule rule, String message, String culprit) {
    String text = HEAD + body + "}\n";
    List<Problem> problems = Verifier.verify(PARSER.primFunc("test", text));
    expect(problems, rule, message);
    String line =
        dev.warpwright.ir.text.IrPrinter.text(PARSER.primFunc("test", text))
            .lines()
            .toList()
            .get(problems.getFirst().line() - 1);
    assertThat(line).contains(culprit);
  }

  private static void valid(String body) {
    assertThat(Verifier.verify(PARSER.primFunc("test", HEAD + body + "}\n"))).isEmpty();
  }

  private static String queue(String declaration) {
    return String.format(
        Locale.ROOT,
        """
        %s
        for i in 8 {
          produce p { tile.copy t[0 +: 16] <- a[i, 0 +: 16] }
          consume p { tile.copy y[i, 0 +: 16] <- t[0 +: 16] }
        }
        """,
        declaration);
  }

  private static String roles(String load, String math) {
    return String.format(
        Locale.ROOT,
        """
        pipe p[2] shared (t: f32[16])
        alloc s: f32[16] shared
        alloc s2: f32[16] shared
        roles {
          role load warps 1 {
            %s
            for i in 8 { produce p { tile.copy t[0 +: 16] <- a[i, 0 +: 16] } }
          }
          role math warps 4 {
            %s
            for i in 8 { consume p { tile.copy y[i, 0 +: 16] <- t[0 +: 16] } }
          }
        }
        """,
        load,
        math);
  }

  @Test
  void aQueueAndTwoRoles() {
    valid(queue("pipe p[1] shared (t: f32[16])"));
    valid(roles("", ""));
  }

  @Test
  void stagesEnough() {
    broken(
        queue("pipe p[2] shared (t: f32[16]) hold 1 lag 1"),
        Rule.PIPES,
        "pipe 'p' has 2 stages; hold 1, lag 1 and lead 0 take 3",
        "pipe p[2]");
    broken(queue("pipe p[2] shared (t: f32[16]) lead 2"), Rule.PIPES, "lead 2 take 3", "pipe p[2]");
    valid(queue("pipe p[3] shared (t: f32[16]) hold 1 lag 1"));
  }

  @Test
  void partsAreAddedInFragments() {
    String parts =
        """
        for p in 2 {
          alloc acc: f32[8, 16] fragment
          tile.copy acc[0 +: 8, 0 +: 16] <- a[0 +: 8, 0 +: 16]
          combine acc at 0 part p of 2 { tile.copy y[0 +: 8, 0 +: 16] <- acc[0 +: 8, 0 +: 16] }
        }
        """;
    valid(parts);
    broken(
        parts.replace("16] fragment", "16] shared"),
        Rule.LEVEL,
        "'acc', whose parts are added, is no fragment",
        "combine acc");
    broken(
        parts.replace("part p of", "part 1.0f32 of"),
        Rule.TYPES,
        "parts of a tile are numbered by f32",
        "combine acc");
    broken(parts.replace("of 2 {", "of 2 [most = 3] {"), Rule.ATTRIBUTES, "most", "combine acc");
  }

  @Test
  void fullAtFirst() {
    broken(
        "pipe p[2] shared () initial 3 consume p { y[0, 0] = 1.0f32 }",
        Rule.PIPES,
        "3 of 2 stages of pipe 'p' are full at first",
        "pipe p");
    broken(
        queue("pipe p[2] shared (t: f32[16]) initial 1"),
        Rule.PIPES,
        "full of what nobody wrote",
        "pipe p");
    valid("pipe p[2] shared () initial 2 consume p { y[0, 0] = 1.0f32 }");
  }

  @Test
  void scopes() {
    broken(
        queue("pipe p[2] global (t: f32[16])"), Rule.SCOPES, "cannot lie in global", "pipe p[2]");
  }

  @Test
  void filledAndReadByOneRoleEach() {
    broken(
        "pipe p[2] shared (t: f32[16]) consume p { y[0, 0] = t[0] }",
        Rule.PIPES,
        "pipe 'p' is never filled",
        "pipe p");
    broken(
        "pipe p[2] shared (t: f32[16]) produce p { t[0] = 1.0f32 }",
        Rule.PIPES,
        "pipe 'p' is never read",
        "pipe p");
    broken(
        roles("", "produce p { t[0] = 1.0f32 }"),
        Rule.PIPES,
        "pipe 'p' is filled by role 'load' and role 'math'; one role may do that",
        "pipe p");
    broken(
        roles("consume p { let x = t[0] }", ""),
        Rule.PIPES,
        "pipe 'p' is read by role 'load' and role 'math'",
        "pipe p");
  }

  @Test
  void stagesAreTouchedInsideOnly() {
    broken(
        queue("pipe p[1] shared (t: f32[16])") + "y[0, 0] = t[0]\n",
        Rule.DECLARED,
        "buffer 't' is not declared here",
        "t[0]");
    broken(
        roles("", "").replace("consume p {", "consume p { t[0] = 2.0f32 "),
        Rule.PIPES,
        "'t' is written where it is consumed",
        "t[0] = 2.0");
    valid(
        "pipe p[1] shared (t: f32[16])\n"
            + "produce p { t[0] = 1.0f32 }\n"
            + "consume p { t[0] = 2.0f32 }\n");
    broken(
        "pipe p[2] shared (t: f32[16])\n"
            + "produce p { t[0] = 1.0f32 produce p { t[0] = 1.0f32 } }\n"
            + "consume p { y[0, 0] = t[0] } consume p { y[0, 0] = t[0] }\n",
        Rule.PIPES,
        "a stage of pipe 'p' inside another one",
        "produce p");
  }

  @Test
  void skippedByInstancesInTurn() {
    String turns =
        """
        pipe p[2] shared (t: f32[16])%s
        roles {
          role load warps 1 {
            for i in 8 { produce p { tile.copy t[0 +: 16] <- a[i, 0 +: 16] } }
          }
          role math[%d]%s warps 4 {
            for i in 4 {
              %s
              consume p { tile.copy y[i, 0 +: 16] <- t[0 +: 16] }
              skip p by 1 - %s
            }
          }
        }
        """;
    valid(String.format(Locale.ROOT, turns, "", 2, " as g", "skip p by g", "g"));
    broken(
        String.format(Locale.ROOT, turns, "", 1, " as g", "skip p by g", "g"),
        Rule.PIPES,
        "no instances take turns",
        "skip p");
    broken(
        String.format(Locale.ROOT, turns, " broadcast", 2, " as g", "skip p by g", "g"),
        Rule.PIPES,
        "all instances read all",
        "skip p");
    broken(
        String.format(Locale.ROOT, turns, "", 2, " as g", "skip p by g - 1", "g"),
        Rule.PIPES,
        "may be skipped by less than 0 stages",
        "skip p");
  }

  @Test
  void underWayNoLongerThanTheStageIsHeld() {
    String body =
        """
        pipe p[%d] shared (t: f32[16, 16])%s
        alloc acc: f32[16, 16] fragment
        tile.fill acc[0 +: 16, 0 +: 16] = 0.0f32
        for i in 8 {
          produce p { tile.copy t[0 +: 16, 0 +: 16] <- a[0 +: 16, 0 +: 16]%s }
          consume p {
            tile.mma acc[0 +: 16, 0 +: 16] += t[0 +: 16, 0 +: 16] * t[0 +: 16, 0 +: 16]%s
          }
        }
        """;
    valid(
        String.format(Locale.ROOT, body, 3, " hold 1 lag 1", " [inflight = 1]", " [inflight = 1]"));
    broken(
        String.format(Locale.ROOT, body, 2, " lag 1", "", " [inflight = 1]"),
        Rule.PIPES,
        "the mma is under way for 1 more stages, pipe 'p' holds a stage for 0",
        "tile.mma");
    broken(
        String.format(Locale.ROOT, body, 2, " hold 1", " [inflight = 1]", ""),
        Rule.PIPES,
        "the copy is under way for 1 more stages, pipe 'p' commits one after 0",
        "tile.copy t");
  }

  @Test
  void rolesThemselves() {
    broken(
        "roles { role x warps 1 { y[0, 0] = 1.0f32 } role x warps 1 { } }",
        Rule.ROLES,
        "there are two roles 'x'",
        "role x");
    broken(
        "roles { role x warps 1 [registers = 25] { y[0, 0] = 1.0f32 } }",
        Rule.ROLES,
        "role 'x' has 25 registers; 24 to 240 in eights",
        "role x");
    broken(
        "roles { role x warps 1 { roles { role z warps 1 { y[0, 0] = 1.0f32 } } } }",
        Rule.ROLES,
        "roles inside a role",
        "roles");
  }

  @Test
  void nothingIsSharedButByPipesAndSignals() {
    broken(
        roles("s[0] = 1.0f32", "y[0, 0] = s[0]"),
        Rule.ROLES,
        "'s' is written by role 'load' and read by role 'math' with no pipe or signal in between",
        "y[0, 0] = s[0]");
    // Behind the last stage of the pipe nothing is handed over.
    broken(
        roles("", "")
            .replace(
                "y[i, 0 +: 16] <- t[0 +: 16] } }", "y[i, 0 +: 16] <- t[0 +: 16] } y[0, 0] = s[0] }")
            .replace(
                "a[i, 0 +: 16] } }\n  }\n  role math",
                "a[i, 0 +: 16] } }\n s[0] = 1.0f32 }\n role math"),
        Rule.ROLES,
        "'s' is written by role 'load' and read by role 'math'",
        "s[0]");
    valid(
        """
        alloc s: f32[16] shared
        pipe full[1] shared ()
        roles {
          role load warps 1 { s[0] = 1.0f32 produce full { } }
          role math warps 4 { consume full { y[0, 0] = s[0] } }
        }
        """);
    broken(
        "alloc s: f32[16] shared\n"
            + "roles { role math[2] as g warps 4 { s[g] = 1.0f32 y[g, 0] = s[g] } }",
        Rule.ROLES,
        "'s' is written by all 2 instances of role 'math'",
        "s[g] = 1.0");
  }

  @Test
  void countersOnlyGrow() {
    broken("signal c[0] by 0", Rule.SIGNALS, "'c' may not grow", "signal c[0]");
    broken(
        "signal c[0] by 1\nc[0] = 0\n",
        Rule.SIGNALS,
        "counter 'c' is only signalled and awaited",
        "c[0] = 0");
    broken("await c[0] >= 1", Rule.SIGNALS, "'c' is awaited, but never signalled", "await c[0]");
    broken(
        "alloc d: i32[1] shared\nsignal d[0] by 1\n",
        Rule.SIGNALS,
        "counter 'd' is no parameter in global memory",
        "signal d[0]");
    broken("signal y[0, 0] by 1.0f32", Rule.SIGNALS, "", "signal y[0, 0]");
    valid("signal c[0] by 1\nawait c[0] >= 1\n");
  }

  @Test
  void aSignalStandsBehindTheWrite() {
    String body =
        """
        roles {
          role first warps 1 { %s }
          role second warps 1 { %s }
        }
        """;
    valid(
        String.format(
            Locale.ROOT,
            body,
            "y[0, 0] = 1.0f32 signal c[0] by 1",
            "await c[0] >= 1 y[1, 0] = y[0, 0] + 1.0f32"));
    broken(
        String.format(
            Locale.ROOT,
            body,
            "signal c[0] by 1 y[0, 0] = 1.0f32",
            "await c[0] >= 1 y[1, 0] = y[0, 0] + 1.0f32"),
        Rule.ROLES,
        "'y' is written by role 'first' and read by role 'second'",
        "y[1, 0] = y[0, 0]");
  }

  @Test
  void whatDependsOnTheLaunchBefore() {
    valid(
        "alloc t: f32[8, 16] shared\n"
            + "tile.copy t[0 +: 8, 0 +: 16] <- a[0 +: 8, 0 +: 16]\n"
            + "await previous\n"
            + "tile.copy y[0 +: 8, 0 +: 16] <- t[0 +: 8, 0 +: 16]\n"
            + "signal next\n");
    broken(
        "y[0, 0] = 1.0f32\nawait previous\n",
        Rule.SIGNALS,
        "'y' may depend on the launch before, but is written before 'await previous'",
        "y[0, 0] = 1.0");
    broken(
        "signal c[0] by 1\nawait previous\n",
        Rule.SIGNALS,
        "'c' may depend on the launch before",
        "signal c[0]");
    broken(
        "for i in 2 { await previous }\ny[0, 0] = a[0, 0]\n",
        Rule.SIGNALS,
        "'y' may depend",
        "y[0, 0] = a");
    broken(
        "alloc t: f32[16] shared\ntile.copy t[0 +: 16] <- y[0, 0 +: 16]\nawait previous\n",
        Rule.SIGNALS,
        "'y' may depend on the launch before, but is read before",
        "tile.copy t");
  }

  @Test
  void notInKernels() {
    BrokenRules.kernel(
        "kernel k(c: i32[4]) grid(bx = 1) block(tx = 32) { signal c[0] by 1 }",
        Rule.LEVEL,
        "pipes, roles and signals belong into a tile program");
  }
}
