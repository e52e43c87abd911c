package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Vectors whose bits are taken as vectors of other elements: bytecode does what closures do. */
class BitcastCodeTest {
  private static final String KERNEL =
      """
      kernel k(x: FROM[TOTAL], y: TO[COUNT], z: TO[COUNT]) grid(bx = 1) block(tid = 32) {
        alloc held: FROM[WIDTH] local
        sync_warp()
        held[ramp(0, 1, WIDTH)] = x[ramp(tid * WIDTH, 1, WIDTH)]
        z[ramp(tid * LANES, 1, LANES)] = select(tid < 30,
            bitcast(TOxLANES, held[ramp(0, 1, WIDTH)]), broadcast(ONE, LANES))
        sync_warp()
        y[ramp(tid * LANES, 1, LANES)] = bitcast(TOxLANES, x[ramp(tid * WIDTH, 1, WIDTH)])
      }
      """;

  @ParameterizedTest
  @CsvSource({
    "f16, 8, u32, 4, 1u32",
    "u32, 4, f16, 8, 1.0f16",
    "u8, 8, f32, 2, 1.0f32",
    "f32, 2, i8, 8, 1i8",
    "f32, 4, f64, 2, 1.0f64",
    "bf16, 4, bf16, 4, 1.0bf16"
  })
  void enginesAgree(String from, int width, String to, int lanes, String one) {
    String text =
        KERNEL
            .replace("TOTAL", "" + 32 * width)
            .replace("FROM", from)
            .replace("TOxLANES", to + "x" + lanes)
            .replace("TO", to)
            .replace("WIDTH", "" + width)
            .replace("LANES", "" + lanes)
            .replace("COUNT", "" + 32 * lanes)
            .replace("ONE", one);
    Kernel kernel = KernelTexts.parse(text);
    byte[][] chosen = new byte[2][];
    GridOptions.Engine[] engines = {GridOptions.Engine.FASTEST, GridOptions.Engine.INTERPRETER};
    for (int e = 0; e < 2; e++) {
      GridInterpreter interpreter =
          new GridInterpreter(kernel, GridOptions.DEFAULT.withEngine(engines[e]));
      assertThat(interpreter.interpreted()).isEqualTo(e == 0 ? List.of() : List.of("k"));
      Arguments arguments = Arguments.random(kernel.params(), 3, Map.of());
      assertThat(interpreter.check(arguments)).isEmpty();
      assertThat(interpreter.replays()).isZero();
      byte[] x = arguments.get("x").bytes();
      assertThat(arguments.get("y").bytes()).isEqualTo(x);
      chosen[e] = arguments.get("z").bytes();
      assertThat(Arrays.copyOf(chosen[e], 30 * x.length / 32))
          .isEqualTo(Arrays.copyOf(x, 30 * x.length / 32));
    }
    assertThat(chosen[0]).isEqualTo(chosen[1]);
  }
}
