package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Intrinsic.Access;
import dev.warpwright.ir.Intrinsic.Collective;
import dev.warpwright.ir.Intrinsic.Operand;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The steps of {@code docs/extending/intrinsic.md}, in one file: a row is all that parser, printer,
 * verifier, CUDA and the simulator need of an intrinsic that computes on lanes' values.
 */
final class AddedIntrinsicTest {
  private static final long SEED = Long.getLong("seed", 16);

  /** {@code (x)}: how many bits are set. */
  private static final TargetIntrinsic POPC =
      new TargetIntrinsic(
          "popc.b32",
          Collective.THREAD,
          List.of(new Operand("x", DType.U32, Set.of(), Access.NONE, 1)),
          Type.U32,
          new TargetIntrinsic.Computes(
              lanes -> {
                for (int lane = 0; lane < lanes.count(); lane++) {
                  if (lanes.active(lane)) {
                    lanes.result(lane, Integer.bitCount((int) lanes.value(0, lane)));
                  }
                }
              }),
          75,
          false,
          """
          __device__ __forceinline__ unsigned popc_b32(unsigned x) {
            unsigned y;
            asm("popc.b32 %0, %1;" : "=r"(y) : "r"(x));
            return y;
          }
          """,
          "PTX ISA, popc");

  private static Optional<Intrinsic> find(String text) {
    return text.equals(POPC.text()) ? Optional.of(POPC) : Intrinsics.find(text);
  }

  private static Kernel kernel(String argument) {
    return new IrParser(AddedIntrinsicTest::find)
        .kernel(
            "test",
            """
            kernel bits(x: u32[64], y: u32[64]) grid(bx = 2) block(t = 32) {
              y[bx * 32 + t] = popc.b32(ARGUMENT)
            }
            """
                .replace("ARGUMENT", argument));
  }

  @Test
  void aRowIsAllThatItTakes() {
    Kernel kernel = kernel("x[bx * 32 + t]");
    assertThat(Verifier.verify(kernel)).isEmpty();
    assertThat(IrPrinter.text(kernel)).contains("popc.b32(x[bx * 32 + t])");
    assertThat(CudaPrinter.print(kernel, GpuTarget.SM_75))
        .contains("popc.b32 %0, %1;", "= popc_b32(x[");

    Arguments arguments = Arguments.random(kernel.params(), SEED);
    assertThat(new GridInterpreter(kernel, GridOptions.DEFAULT).check(arguments)).isEmpty();
    NdArray x = arguments.get("x");
    NdArray y = arguments.get("y");
    for (int i = 0; i < 64; i++) {
      assertThat(y.element(i))
          .as("bits of %s, seed %d", x.element(i), SEED)
          .isEqualTo(Integer.bitCount((int) (long) x.element(i)));
    }
  }

  @Test
  void anOperandOfAnotherTypeIsRefused() {
    assertThat(Verifier.verify(kernel("1.0f32"))).hasSize(1);
  }
}
