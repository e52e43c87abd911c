package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The GEMM in Kernel text for Hopper, executed. */
class HopperGemmTest {
  private static final long SEED = Long.getLong("seed", 77);

  /** The persistent kernel for so many clusters instead of 66. */
  static Kernel kernel(long clusters) {
    return ChangedConstants.of(
        KernelTexts.parse(KernelTexts.file("gemm_bf16_sm90")),
        Map.of(132L, 2 * clusters, 66L, clusters, 65L, clusters - 1));
  }

  /** Work items of 256 × 256, one for each cluster's turn. */
  static Arguments arguments(Kernel kernel, int m, int n, int k) {
    int rows = (m + 255) / 256;
    int cols = (n + 255) / 256;
    Arguments arguments =
        Arguments.random(kernel.params(), SEED, Map.of("M", m, "N", n, "K", k, "T", rows * cols));
    for (int t = 0; t < rows * cols; t++) {
      arguments.get("order").setIntegerElement(t, (long) (t % rows) << 16 | t / rows);
    }
    arguments.get("C").poison();
    return arguments;
  }

  /** The kernel multiplies, without findings, in every order. */
  static void assertComputes(Kernel kernel, Arguments arguments, List<GridOptions> orders) {
    NdArray reference = KernelTexts.product(arguments.get("A"), arguments.get("B"));
    for (GridOptions options : orders) {
      arguments.get("C").poison();
      assertThat(new GridInterpreter(kernel, options).check(arguments)).as("%s", options).isEmpty();
      Verification v = Verification.compare(arguments.get("C").to(DType.F64), reference);
      assertThat(v.within(4e-3)).as("%s: %s, seed %d", options, v, SEED).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"256,256,128,1", "300,264,136,1", "384,512,192,2", "512,512,320,1"})
  void isCorrectAndClean(int m, int n, int k, int clusters) {
    Kernel kernel = kernel(clusters);
    assertComputes(
        kernel,
        arguments(kernel, m, n, k),
        List.of(
            GridOptions.DEFAULT,
            GridOptions.DEFAULT
                .withWarps(GridOptions.WarpChoice.LAST)
                .withBlocks(Options.Order.REVERSE, 4),
            GridOptions.random(SEED)));
  }
}
