package dev.warpwright.target.intrinsic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.verify.Problem;
import dev.warpwright.ir.verify.Verifier;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the verifier asks of a kernel that waits for the launches before it. */
class OverlappingLaunchRulesTest {
  private static List<Problem> problems(String attributes, String body) {
    return Verifier.verify(
        new IrParser(Intrinsics::find)
            .kernel(
                "test",
                String.format(
                    Locale.ROOT,
                    """
                    kernel k(x: bf16[64, 64], w: bf16[64, 64], y: f32[64], c: u32[1])
                        grid(bx = 1) block(tx = 32) [%s] {
                      alloc t: bf16[64, 64] shared layout (64:64),(64:1)^<3,3,3> align 1024
                      alloc full: mbarrier[1] shared
                      %s
                    }
                    """,
                    attributes,
                    body)));
  }

  private static final String WAIT = "; griddepcontrol.wait(); ";
  private static final String LOAD_W = "bulk.load.2d(&t[0, 0], &w[0, 0], &full[0], 64, 64)";
  private static final String LOAD_X = "bulk.load.2d(&t[0, 0], &x[0, 0], &full[0], 64, 64)";

  @Test
  void constantsMayBeReadAheadAndTheRestBehind() {
    assertThat(
            problems(
                "constants = \"w\"",
                "griddepcontrol.launch_dependents(); let one: bf16 = w[0, 0]; "
                    + LOAD_W
                    + WAIT
                    + LOAD_X
                    + "; y[tx] = f32(one)"))
        .isEmpty();
    // Who does not wait begins when the launches before have ended.
    assertThat(problems("fast = 1", LOAD_X + "; y[tx] = 1.0f32")).isEmpty();
  }

  @Test
  void eachBranchWaitsForItself() {
    assertThat(
            problems(
                "constants = \"w\"",
                "if tx == 0 { griddepcontrol.wait() } else { griddepcontrol.wait() }; y[tx] ="
                    + " 1.0f32"))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "y[tx] = 1.0f32; griddepcontrol.wait() | 'y' may depend on the launch before, but is"
            + " written before 'griddepcontrol.wait'",
        "bulk.load.2d(&t[0, 0], &x[0, 0], &full[0], 64, 64); griddepcontrol.wait() | 'x' may depend"
            + " on the launch before, but is read before",
        "let v: bf16 = x[0, 0]; griddepcontrol.wait() | 'x' may depend",
        "let v: u32 = load.acquire.u32(&c[0]); griddepcontrol.wait() | 'c' may depend",
        "while load.acquire.u32(&c[0]) < 1u32 { }; griddepcontrol.wait() | 'c' may depend",
        "red.add.release.u32(&c[0], 1u32); griddepcontrol.wait() | 'c' may depend on the launch"
            + " before, but is written",
        "if tx == 0 { griddepcontrol.wait() }; y[tx] = 1.0f32 | 'y' may depend",
        "for i in 2 { griddepcontrol.wait() }; y[tx] = 1.0f32 | 'y' may depend",
        "griddepcontrol.wait(); w[0, 0] = x[0, 0] | 'constants' names 'w', which it writes",
      })
  void whatDependsStandsBehindTheWait(String body, String message) {
    assertThat(problems("constants = \"w\"", body)).hasSize(1).first().asString().contains(message);
  }

  @Test
  void constantsAreParameters() {
    assertThat(problems("constants = \"w z\"", "griddepcontrol.wait()"))
        .hasSize(1)
        .first()
        .asString()
        .contains("'constants' names 'z', which is no buffer it takes");
  }

  @Test
  void whatAProgramPassesForAConstantIsOne() {
    String text =
        """
        program p {
          %s w: f32[32]
          output y: f32[32]
          kernel k(w: f32[32], y: f32[32]) grid(bx = 1) block(tx = 32) [constants = "w"] {
            let v: f32 = w[tx]
            griddepcontrol.wait()
            y[tx] = v
          }
          launch k(w, y)
        }
        """;
    IrParser parser = new IrParser(Intrinsics::find);
    assertThat(Verifier.verify(parser.program("p", String.format(Locale.ROOT, text, "constant"))))
        .isEmpty();
    assertThat(Verifier.verify(parser.program("p", String.format(Locale.ROOT, text, "input"))))
        .hasSize(1)
        .first()
        .asString()
        .contains("'k' reads 'w' before it waits for earlier launches: 'w' is no constant");
  }
}
