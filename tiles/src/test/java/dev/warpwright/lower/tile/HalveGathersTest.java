package dev.warpwright.lower.tile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Operands gathered by halves: the text, what is left alone, and that all compute the same. */
class HalveGathersTest {
  /** A of tf32 is M-major in memory; the instruction takes it from registers only. */
  private static final String GEMM =
      """
      primfunc f(A: f32[64, 64], B: f32[8, 64], y: f32[64, 8]) [consumers = 1] {
        bind bx: blockIdx.x in 1 {
          alloc As: f32[32, 64] shared
          alloc Bs: f32[8, 32] shared
          persistent t in 1 {
            alloc held: f32[64, 32] fragment
            alloc acc: f32[64, 8] fragment
            tile.fill acc[0 +: 64, 0 +: 8] = 0.0f32
            pipeline k in 2 [stages = 3] {
              tile.copy As[0 +: 32, 0 +: 64] <- A[k * 32 +: 32, 0 +: 64]
              tile.copy Bs[0 +: 8, 0 +: 32] <- B[0 +: 8, k * 32 +: 32]
              tile.map (i in 64, j in 32) { held[i, j] = As[j, i] }
              tile.mma acc[0 +: 64, 0 +: 8] += held[0 +: 64, 0 +: 32] * Bs[0 +: 8, 0 +: 32]^T [instr = "wgmma.m64n8k8.f32.tf32.ra"]
            }
            tile.copy y[0 +: 64, 0 +: 8] <- acc[0 +: 64, 0 +: 8]
          }
        }
      }
      """;

  private static PrimFunc parse(String text) {
    return new IrParser(name -> Optional.empty()).primFunc("test", text);
  }

  /** The same in steps of other columns, two of them. */
  private static String stepsOf(int columns) {
    return GEMM.replace("f32[64, 64], B: f32[8, 64]", "f32[K, 64], B: f32[8, K]")
        .replace("K", "" + 2 * columns)
        .replace("k * 32 +: 32", "k * " + columns + " +: " + columns)
        .replace("0 +: 32", "0 +: " + columns)
        .replace("f32[32, 64]", "f32[" + columns + ", 64]")
        .replace(", 32]", ", " + columns + "]")
        .replace("j in 32", "j in " + columns);
  }

  private static byte[] result(PrimFunc f, Options options) {
    Arguments arguments = Arguments.random(f.params(), 11);
    arguments.get("y").poison();
    Interpreter.of(f, options).run(arguments);
    return arguments.get("y").bytes();
  }

  private static void check(PrimFunc f, byte[] expected) {
    String text = IrPrinter.text(f);
    assertThat(Verifier.verify(f)).as(text).isEmpty();
    assertThat(IrPrinter.text(parse(text))).isEqualTo(text);
    for (Options.Order order : Options.Order.values()) {
      Options options = Options.CHECKED.withOrder(order, 11);
      assertThat(result(f, options)).as("%s:%n%s", options, text).isEqualTo(expected);
      assertThat(result(f, options.asLateAsAllowed()))
          .as("as late as allowed, %s:%n%s", options, text)
          .isEqualTo(expected);
    }
  }

  /** What the pass and those behind it make of a program computes what the program does. */
  private static void computesTheSame(PrimFunc func) {
    byte[] expected = result(func, Options.EXACT);
    PrimFunc halved = HalveGathers.apply(func);
    check(halved, expected);
    PrimFunc planned = PlanPipes.apply(halved);
    check(planned, expected);
    check(AssignRoles.apply(planned), expected);
  }

  @Test
  void oneHalfComesWhileTheOtherIsMultiplied() {
    PrimFunc halved = HalveGathers.apply(parse(GEMM));
    assertThat(IrPrinter.text(halved))
        .isEqualTo(
            """
            primfunc f(A: f32[64, 64], B: f32[8, 64], y: f32[64, 8]) [consumers = 1] {
              bind bx: blockIdx.x in 1 {
                alloc As: f32[32, 64] shared
                alloc Bs: f32[8, 32] shared
                persistent t in 1 {
                  alloc held: f32[64, 16] fragment
                  alloc held_1: f32[64, 16] fragment
                  alloc acc: f32[64, 8] fragment
                  tile.fill acc[0 +: 64, 0 +: 8] = 0.0f32
                  pipeline k in 2 [stages = 3] {
                    tile.copy As[0 +: 32, 0 +: 64] <- A[k * 32 +: 32, 0 +: 64]
                    tile.copy Bs[0 +: 8, 0 +: 32] <- B[0 +: 8, k * 32 +: 32]
                    tile.map (i in 64, j in 16) {
                      held[i, j] = As[j, i]
                    }
                    tile.mma acc[0 +: 64, 0 +: 8] += held[0 +: 64, 0 +: 16] * Bs[0 +: 8, 0 +: 16]^T [instr = "wgmma.m64n8k8.f32.tf32.ra"]
                    tile.map (i in 64, j in 16) {
                      held_1[i, j] = As[j + 16, i]
                    }
                    tile.mma acc[0 +: 64, 0 +: 8] += held_1[0 +: 64, 0 +: 16] * Bs[0 +: 8, 16 +: 16]^T [instr = "wgmma.m64n8k8.f32.tf32.ra"]
                  }
                  tile.copy y[0 +: 64, 0 +: 8] <- acc[0 +: 64, 0 +: 8]
                }
              }
            }
            """);
  }

  @Test
  void theSecondProductEndsInTheNextStage() {
    assertThat(IrPrinter.text(PlanPipes.apply(HalveGathers.apply(parse(GEMM)))))
        .isEqualTo(
            """
            primfunc f(A: f32[64, 64], B: f32[8, 64], y: f32[64, 8]) [consumers = 1] {
              bind bx: blockIdx.x in 1 {
                pipe ring[3] shared (As: f32[32, 64], Bs: f32[8, 32]) lead 1 hold 1
                persistent t in 1 {
                  alloc held: f32[64, 16] fragment
                  alloc held_1: f32[64, 16] fragment
                  alloc acc: f32[64, 8] fragment
                  tile.fill acc[0 +: 64, 0 +: 8] = 0.0f32
                  for k in 2 {
                    produce ring {
                      tile.copy As[0 +: 32, 0 +: 64] <- A[k * 32 +: 32, 0 +: 64]
                      tile.copy Bs[0 +: 8, 0 +: 32] <- B[0 +: 8, k * 32 +: 32]
                    }
                    consume ring {
                      tile.map (i in 64, j in 16) {
                        held[i, j] = As[j, i]
                      }
                      tile.mma acc[0 +: 64, 0 +: 8] += held[0 +: 64, 0 +: 16] * Bs[0 +: 8, 0 +: 16]^T [instr = "wgmma.m64n8k8.f32.tf32.ra"]
                      tile.map (i in 64, j in 16) {
                        held_1[i, j] = As[j + 16, i]
                      }
                      tile.mma acc[0 +: 64, 0 +: 8] += held_1[0 +: 64, 0 +: 16] * Bs[0 +: 8, 16 +: 16]^T [inflight = 1, instr = "wgmma.m64n8k8.f32.tf32.ra"]
                    }
                  }
                  tile.copy y[0 +: 64, 0 +: 8] <- acc[0 +: 64, 0 +: 8]
                }
              }
            }
            """);
  }

  @Test
  void bothComputeTheSame() {
    computesTheSame(parse(GEMM));
    // Halves of two panels, and B with K first.
    PrimFunc longer = parse(stepsOf(64));
    assertThat(IrPrinter.text(HalveGathers.apply(longer))).contains("As[j + 32, i]");
    computesTheSame(longer);
    computesTheSame(
        parse(
            GEMM.replace("B: f32[8, 64]", "B: f32[64, 8]")
                .replace("Bs: f32[8, 32]", "Bs: f32[32, 8]")
                .replace("Bs[0 +: 8, 0 +: 32]^T", "Bs[0 +: 32, 0 +: 8]")
                .replace("Bs[0 +: 8, 0 +: 32] <-", "Bs[0 +: 32, 0 +: 8] <-")
                .replace("B[0 +: 8, k * 32 +: 32]", "B[k * 32 +: 32, 0 +: 8]")));
  }

  /** A program in which something else is the case is left as it is. */
  private static void leavesAlone(String text) {
    PrimFunc func = parse(text);
    List<String> told = new ArrayList<>();
    assertThat(HalveGathers.apply(func, (pass, program) -> told.add(pass))).isSameAs(func);
    assertThat(told).isEmpty();
    computesTheSame(func);
  }

  /** Operands in registers are of 16 columns or a multiple of it. */
  @ParameterizedTest
  @ValueSource(ints = {16, 48})
  void halvesOfSixteenColumnsOrNone(int columns) {
    leavesAlone(stepsOf(columns));
  }

  @Test
  void anOperandThatIsUsedTwiceStaysWhole() {
    leavesAlone(
        GEMM.replace(
            "    tile.copy y",
            """
                tile.map (i in 64, j in 8) { acc[i, j] = acc[i, j] + held[i, j] }
                tile.copy y"""));
  }

  /** A column that is the same for all of K is no tile that is MN-major. */
  @Test
  void soDoesWhatHasOneDimension() {
    leavesAlone(
        GEMM.replace("alloc Bs", "alloc column: f32[64] shared\n    alloc Bs")
            .replace("held[i, j] = As[j, i]", "held[i, j] = column[i]")
            .replace("persistent", "tile.fill column[0 +: 64] = 2.0f32\n    persistent"));
  }

  @Test
  void soDoesOneOfOtherInstructions() {
    leavesAlone(GEMM.replace(" [instr = \"wgmma.m64n8k8.f32.tf32.ra\"]", ""));
  }
}
