package dev.warpwright.ir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The text of pipes, roles and signals; equality and rewriting. */
class FlowTextTest {
  private static final String PROGRAM =
      """
      primfunc f(a: f32[8, 16], y: f32[8, 16], c: i32[4]) {
        pipe p[3] shared (t: f32[16] layout (16:1) align 128, n: i32[]) lead 1 hold 1 lag 1
        pipe free[2] shared.cluster () initial 2 broadcast
        roles {
          role load warps 1 [registers = 40] {
            await previous
            produce p {
              n[] = 1
              tile.copy t[0 +: 16] <- a[0, 0 +: 16] [inflight = 1]
            }
            signal next
          }
          role math[2] as g warps 4 {
            skip p by g
            consume p peek {
              y[g, 0] = t[n[]]
            }
            consume p {
              y[g, 1] = t[n[]]
            }
            signal c[g] by 2
            await c[1 - g] >= 2
            alloc acc: f32[4, 8] fragment
            tile.fill acc[0 +: 4, 0 +: 8] = 0.0f32
            combine acc at g part 1 of 2 [by = "cluster"] {
              tile.copy y[0 +: 4, 0 +: 8] <- acc[0 +: 4, 0 +: 8]
            }
            pipe p_1[1] local (n_1: i32[])
            produce p_1 {
              n_1[] = 1
            }
          }
        }
      }
      """;

  private static PrimFunc parse(String text) {
    return new IrParser(RoundTripTest::intrinsic).primFunc("test", text);
  }

  @Test
  void printedAsParsed() {
    PrimFunc f = parse(PROGRAM);
    assertThat(IrPrinter.text(f)).isEqualTo(PROGRAM);
    assertThat(StructuralEquality.equal(f, parse(PROGRAM))).isTrue();
  }

  @Test
  void everyPartCounts() {
    PrimFunc f = parse(PROGRAM);
    Map<String, String> changes = new HashMap<>();
    changes.put("p[3]", "p[4]");
    changes.put("lead 1", "lead 2");
    changes.put("hold 1", "hold 2");
    changes.put("lag 1", "lag 2");
    changes.put("initial 2", "initial 1");
    changes.put(" broadcast", "");
    changes.put("shared.cluster", "shared");
    changes.put("role load", "role store");
    changes.put("math[2]", "math[3]");
    changes.put("warps 4", "warps 8");
    changes.put("registers = 40", "registers = 48");
    changes.put("p peek", "p");
    changes.put("skip p by g", "skip p by 1");
    changes.put("signal c[g] by 2", "signal c[g] by 1");
    changes.put("await c[1 - g] >= 2", "await c[1 - g] >= 1");
    changes.put("await previous", "signal next");
    changes.put("at g part", "at 1 - g part");
    changes.put("part 1 of 2", "part 0 of 2");
    changes.put("of 2 [by", "of 3 [by");
    changes.put(" [by = \"cluster\"]", "");
    changes.put("tile.copy y[0 +: 4", "tile.copy y[4 +: 4");
    changes.forEach(
        (old, changed) -> {
          assertThat(PROGRAM).contains(old);
          PrimFunc other = parse(PROGRAM.replace(old, changed));
          assertThat(StructuralEquality.equal(f, other)).as(old).isFalse();
        });
  }

  @Test
  void wordsAreNoKeywords() {
    String text =
        """
        primfunc f(pipe: f32[8], produce: f32[8], roles: f32[8], signal: f32[8]) {
          alloc await: f32[8] shared
          alloc combine: f32[8] shared
          await[0] = 1.0f32
          combine[0] = await[0]
          pipe[0] = combine[0]
          produce[0] = pipe[0]
          roles[0] = pipe[0]
          signal[0] = pipe[0]
        }
        """;
    assertThat(IrPrinter.text(parse(text))).isEqualTo(text);
  }

  @Test
  void errors() {
    assertThatThrownBy(() -> parse("primfunc f(a: f32[8]) { produce a { a[0] = 1.0f32 } }"))
        .isInstanceOf(UserError.class)
        .hasMessage("test:1:33: expected a pipe, found 'a'");
    assertThatThrownBy(() -> parse("primfunc f(a: f32[8]) { pipe p[0] shared () }"))
        .isInstanceOf(UserError.class)
        .hasMessage("test:1:30: pipe p has 0 stages");
    assertThatThrownBy(() -> parse("primfunc f(a: f32[8]) { pipe p[1] shared (t: f32[8] local) }"))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("pipe p of scope shared holds t");
    assertThatThrownBy(() -> parse("primfunc f(a: f32[8]) { roles { role x[2] { } } }"))
        .isInstanceOf(UserError.class)
        .hasMessage("test:1:43: expected 'warps', found '{'");
  }

  @Test
  void aRewriterExchangesThePipeWithItsBuffers() {
    PrimFunc f = parse(PROGRAM);
    assertThat(new Rewriter().stmt(f.body())).isSameAs(f.body());
    Map<Buffer, Buffer> copies = new HashMap<>();
    Stmt renamed =
        new Rewriter() {
          @Override
          protected Buffer buffer(Buffer buffer) {
            return buffer.name().equals("t")
                ? copies.computeIfAbsent(buffer, b -> b.withName("u"))
                : buffer;
          }
        }.stmt(f.body());
    Set<Pipe> declared = new HashSet<>();
    Set<Pipe> used = new HashSet<>();
    Walk.statements(
        renamed,
        s -> {
          switch (s) {
            case Stmt.Flow.PipeScope scope -> declared.add(scope.pipe());
            case Stmt.Flow.Produce p -> used.add(p.pipe());
            case Stmt.Flow.Consume p -> used.add(p.pipe());
            case Stmt.Flow.Skip skip -> used.add(skip.pipe());
            default -> {}
          }
        });
    assertThat(declared).containsAll(used);
    PrimFunc changed = f.withBody(renamed);
    assertThat(IrPrinter.text(changed))
        .isEqualTo(PROGRAM.replace(" t[", " u[").replace("(t:", "(u:"));
  }
}
