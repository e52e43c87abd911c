package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.target.GpuTarget;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sums and maxima of rows in shared memory: a warp for each row, or several of few rows. */
final class SharedRowsTest {
  private static final long SEED = Long.getLong("seed", 76);

  /** Two reductions of which the second reads nothing of the first, then one that reads both. */
  private static final String ROWS =
      """
      primfunc rows(A: f32[$M, $K], C: f32[$M, 3]) [threads = $THREADS] {
        bind m: blockIdx.x in ($M + $R - 1) / $R {
          alloc top: f32[$R] shared
          alloc sum: f32[$R] shared
          alloc all: f32[$R] shared
          alloc out: f32[$R, 3] shared
          tile.fill top[0 +: $R] = -1024.0f32
          tile.fill sum[0 +: $R] = 0.5f32
          tile.fill all[0 +: $R] = 0.0f32
          for twice in 2 {
            tile.reduce max (r in $R; j in $K) top[r] max= A[min(m * $R + r, $M - 1), j]
            tile.reduce sum (r in $R; j in $K) sum[r] += A[min(m * $R + r, $M - 1), j]
            tile.reduce sum (r in $R; j in $K) all[r] += select(j < 8, top[r] - sum[r], 0.0f32)
          }
          tile.map (r in $R, j in 3) {
            out[r, j] = select(j == 0, top[r], select(j == 1, sum[r], all[r]))
          }
          tile.copy C[m * $R +: $R, 0 +: 3] <- out[0 +: $R, 0 +: 3]
        }
      }
      """;

  @ParameterizedTest
  @CsvSource({
    "1, 1, 256, 4096",
    "1, 1, 256, 37",
    "5, 2, 256, 513",
    "9, 4, 256, 100",
    "3, 1, 64, 65",
    "7, 1, 32, 40",
    "16, 8, 256, 64",
    "20, 16, 128, 33"
  })
  void computesTheSame(int m, int r, int threads, int k) {
    PrimFunc func =
        FlowPrograms.parse(
            FlowPrograms.fill(ROWS, Map.of("M", m, "R", r, "THREADS", threads, "K", k)));
    assertThat(Verifier.verify(func)).isEmpty();
    Kernel kernel = Lowering.lower(func, GpuTarget.SM_80);
    String text = IrPrinter.text(kernel);
    assertThat(Verifier.verify(kernel)).as(text).isEmpty();
    assertThat(text.contains("parts[")).isEqualTo(2 * r <= threads / 32);
    // Whole numbers: sums are the same in any order.
    Arguments expected = LoweringTest.exact(func.params(), Map.of());
    Interpreter.of(func, Options.CHECKED).run(expected);
    for (GridOptions options :
        List.of(
            GridOptions.DEFAULT,
            GridOptions.DEFAULT.withWarps(GridOptions.WarpChoice.LAST),
            GridOptions.random(SEED))) {
      Arguments arguments = LoweringTest.exact(kernel.params(), Map.of());
      arguments.get("C").poison();
      assertThat(new GridInterpreter(kernel, options).check(arguments)).as(text).isEmpty();
      assertThat(arguments.get("C").sameBits(expected.get("C"))).as("%s", options).isTrue();
    }
  }
}
