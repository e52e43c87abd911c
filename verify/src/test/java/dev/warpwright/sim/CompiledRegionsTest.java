package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.expr.Index3;
import dev.warpwright.sim.region.CompiledRegions;
import dev.warpwright.sim.region.RegionPlan;
import dev.warpwright.verify.mutation.Mutant;
import dev.warpwright.verify.mutation.Mutations;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Kernels compiled to bytecode do, and report, what the interpreter does and reports. */
class CompiledRegionsTest {
  private static final long SEED = Long.getLong("seed", 83);
  private static final int RANDOM_KERNELS = Integer.getInteger("kernels", 400);

  private static final GridOptions FAST = GridOptions.DEFAULT;
  private static final GridOptions SLOW = FAST.withEngine(GridOptions.Engine.INTERPRETER);

  /** Runs both ways; whether there was nothing to report. */
  private static boolean agree(Kernel kernel, Map<String, Integer> scalars, String what) {
    Arguments fast = Arguments.random(kernel.params(), SEED, scalars);
    Arguments slow = Arguments.random(kernel.params(), SEED, scalars);
    List<Finding> reported = new GridInterpreter(kernel, FAST).check(fast);
    List<Finding> expected = new GridInterpreter(kernel, SLOW).check(slow);
    assertThat(reported).as(what).isEqualTo(expected);
    for (Buffer b : kernel.buffers()) {
      assertThat(fast.get(b).sameBits(slow.get(b))).as("%s of %s", b.name(), what).isTrue();
    }
    return expected.isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"128, 128, 16", "150, 136, 44", "1, 300, 4"})
  void theSimtGemm(int m, int n, int k) {
    Kernel kernel = KernelTexts.parse(KernelTexts.file("gemm_f32_simt"));
    assertThat(RegionPlan.of(kernel)).isNotNull();
    assertThat(agree(kernel, Map.of("M", m, "N", n, "K", k), "the GEMM")).isTrue();
  }

  @Test
  void nothingIsSuspiciousInACleanKernel() {
    Kernel kernel = KernelTexts.parse(KernelTexts.file("gemm_f32_simt"));
    Arguments arguments =
        Arguments.random(kernel.params(), SEED, Map.of("M", 130, "N", 70, "K", 20));
    CompiledRegions regions = CompiledRegions.of(kernel, Set.of(kernel.buffers().getLast()));
    assertThat(regions).isNotNull();
    assertThat(regions.run(b -> arguments.get(b).bytes(), arguments::scalar, new Index3(1, 2, 1)))
        .isTrue();
  }

  @Test
  void plantedMistakes() {
    Kernel kernel = KernelTexts.parse(KernelTexts.file("gemm_f32_simt"));
    Map<String, Integer> scalars = Map.of("M", 40, "N", 136, "K", 12);
    int planted = 0;
    for (var mutation : Mutations.ALL) {
      for (Mutant mutant : mutation.plant(kernel)) {
        if (Verifier.verify(mutant.kernel()).isEmpty()) {
          agree(mutant.kernel(), scalars, mutant.toString());
          planted++;
        }
      }
    }
    assertThat(planted).isGreaterThan(20);
  }

  @Test
  void randomKernels() {
    int clean = 0;
    int compiled = 0;
    for (int i = 0; i < RANDOM_KERNELS; i++) {
      long seed = SEED * 1000 + i;
      Kernel kernel = RandomGridKernels.of(seed);
      compiled += RegionPlan.of(kernel) == null ? 0 : 1;
      String what = "kernel " + seed + ":\n" + IrPrinter.text(kernel);
      clean += agree(kernel, Map.of(), what) ? 1 : 0;
    }
    assertThat(compiled).as("kernels that compile").isGreaterThan(RANDOM_KERNELS * 3 / 4);
    assertThat(clean)
        .as("kernels without findings")
        .isBetween(RANDOM_KERNELS / 8, RANDOM_KERNELS * 7 / 8);
  }
}
