package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.expr.MathFunctions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The other kernels of the repository that are written by hand, executed. */
class KernelFilesTest {
  private static final long SEED = Long.getLong("seed", 78);

  static final List<GridOptions> ORDERS =
      List.of(
          GridOptions.DEFAULT,
          GridOptions.DEFAULT
              .withWarps(GridOptions.WarpChoice.LAST)
              .withBlocks(Options.Order.REVERSE, 3),
          GridOptions.random(SEED));

  @ParameterizedTest
  @CsvSource({
    "gemm_bf16_sm90_skinny, 40, 232, 712",
    "gemm_bf16_sm90_skinny, 130, 112, 1344",
    "gemm_bf16_sm90_m16, 16, 256, 640",
    "gemm_bf16_sm90_m16, 9, 136, 1544",
  })
  void gemmsAreCorrectAndClean(String file, int m, int n, int k) {
    Kernel kernel = KernelTexts.parse(KernelTexts.file(file));
    HopperGemmTest.assertComputes(
        kernel, Arguments.random(kernel.params(), SEED, Map.of("M", m, "N", n, "K", k)), ORDERS);
  }

  /** The two products in one kernel, on so many blocks instead of 132. */
  static Kernel ffn(long blocks) {
    return ChangedConstants.of(
        KernelTexts.parse(KernelTexts.file("ffn_bf16_sm90_m16")),
        Map.of(132L, blocks, 131L, blocks - 1));
  }

  @ParameterizedTest
  @CsvSource({"150, 264, 136", "128, 256, 256", "100, 200, 64"})
  void theOneForAmpereIsCorrectAndClean(int m, int n, int k) {
    Kernel kernel = KernelTexts.parse(KernelTexts.file("gemm_bf16_sm80"));
    int rows = (m + 127) / 128;
    int tiles = rows * ((n + 127) / 128);
    Arguments arguments =
        Arguments.random(kernel.params(), SEED, Map.of("M", m, "N", n, "K", k, "T", tiles));
    for (int t = 0; t < tiles; t++) {
      arguments.get("order").setIntegerElement(t, (long) (t % rows) << 16 | t / rows);
    }
    HopperGemmTest.assertComputes(kernel, arguments, ORDERS);
  }

  @ParameterizedTest
  @CsvSource({"16, 200, 1024, 136, 4", "7, 1352, 1544, 264, 5", "3, 64, 1416, 72, 6"})
  void theTwoProductsAgree(int m, int k1, int n1, int n2, int blocks) {
    Kernel kernel = ffn(blocks);
    Arguments arguments =
        Arguments.random(kernel.params(), SEED, Map.of("M", m, "K1", k1, "N1", n1, "N2", n2));
    NdArray reference = feedForward(arguments);
    arguments.get("counters").fill(0);
    // Each launch carries on with the counters of the one before it.
    for (GridOptions options : ORDERS) {
      // Fewer than there are: who waits must not keep the one that is waited for from starting.
      GridOptions resident = options.withBlocks(options.blocks(), blocks / 2);
      arguments.get("H").poison();
      arguments.get("Y").poison();
      assertThat(new GridInterpreter(kernel, resident).check(arguments))
          .as("%s", options)
          .isEmpty();
      Verification v = Verification.compare(arguments.get("Y").to(DType.F64), reference);
      assertThat(v.within(2e-2)).as("%s: %s, seed %d", options, v, SEED).isTrue();
    }
  }

  /** GELU(X · W1ᵀ) · W2ᵀ in f64. */
  static NdArray feedForward(Arguments arguments) {
    NdArray h = KernelTexts.product(arguments.get("X"), arguments.get("W1"));
    for (int i = 0; i < h.size(); i++) {
      double x = h.element(i);
      h.setElement(i, x * 0.5 * (1 + MathFunctions.erf(x * Math.sqrt(0.5))));
    }
    return KernelTexts.product(h, arguments.get("W2"));
  }
}
