package dev.warpwright.families.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.Nvcc;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.Verification;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.AttentionCache;
import dev.warpwright.workload.AttentionReference;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Attention and its output projection in one launch. */
class ProjectedAttentionTest {
  private static final long SEED = Long.getLong("seed", 31);

  private record Case(Attention attention, int keys, int splits, int stages, int features) {
    ProjectedAttention kernel() {
      AttentionConfig config = AttentionConfig.wgmma(64, keys, stages).withSplits(splits);
      return ProjectedAttention.of(attention, config, GpuTarget.SM_90A, features);
    }
  }

  @SuppressWarnings("unused") // By name.
  private static final List<Case> CASES =
      List.of(
          // One row, of several chunks; one chunk, of whole keys; features that are no multiple of
          // a
          // share, so that blocks have none.
          new Case(Attention.of(1, 16, 2, 64, 1, 200, DType.BF16), 64, 3, 3, 104),
          new Case(Attention.of(3, 4, 2, 64, 1, 64, DType.F16), 32, 1, 2, 72),
          // More than eight rows, several tokens, a ring that goes round, and weights that do not
          // fit, so that places are filled again, some beside the ring and some in it.
          new Case(Attention.of(5, 16, 1, 128, 2, 90, DType.BF16).withCausal(true), 32, 2, 4, 400),
          new Case(Attention.of(1, 20, 1, 128, 3, 300, DType.BF16), 64, 2, 6, 120));

  @ParameterizedTest
  @FieldSource("CASES")
  void isCleanAndRight(Case each) {
    Attention attention = each.attention;
    ProjectedAttention projected = each.kernel();
    Kernel kernel = projected.kernel();
    assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    assertThat(KernelResources.of(kernel).sharedBytes())
        .isLessThanOrEqualTo(GpuTarget.SM_90A.sharedPerBlock());
    Program program = projected.program();
    assertThat(Verifier.verify(program)).isEmpty();
    Arguments data = Arguments.random(ProgramInterpreter.params(program), SEED);
    AttentionReference expected =
        AttentionReference.of(
                AttentionCache.full(attention, SEED),
                data.get("Q").toDoubles(),
                data.get("K").toDoubles(),
                data.get("V").toDoubles())
            .projected(attention, data.get("W").toDoubles(), data.get("X").toDoubles());
    for (GridOptions way :
        List.of(
            GridOptions.DEFAULT,
            GridOptions.random(SEED),
            GridOptions.even(1000),
            GridOptions.DEFAULT
                .withWarps(GridOptions.WarpChoice.LAST)
                .withBlocks(Options.Order.REVERSE, 3))) {
      ProgramInterpreter interpreter =
          new ProgramInterpreter(program, way, Options.CHECKED).keepingWorkspace();
      // Counters must be as they were.
      for (int run = 0; run < 2; run++) {
        Arguments arguments = data.copy();
        arguments.get("Y").poison();
        assertThat(interpreter.check(arguments)).as("%s, seed %d", way, SEED).isEmpty();
        double[] got = arguments.get("Y").toDoubles();
        Deviations deviations = expected.deviations(got, attention.type());
        assertThat(deviations.text(each.features)).as("%s, seed %d", way, SEED).isEmpty();
        assertThat(Verification.compare(got, expected.values()).relError())
            .isLessThan(attention.tolerance());
      }
    }
  }

  /** Blocks that wait for each other are all on the GPU, or the kernel is refused. */
  @Test
  void allBlocksRunAtOnce() {
    Attention attention = Attention.of(4, 16, 8, 64, 1, 600, DType.BF16);
    assertThat(
            new Case(attention, 64, 4, 2, 64).kernel().kernel().attrs().getLong("cooperative", 0))
        .isEqualTo(1);
    assertThatThrownBy(() -> new Case(attention, 64, 5, 2, 64).kernel())
        .isInstanceOf(UserError.class)
        .hasMessageContaining("160 blocks wait for each other, more than 132 SMs");
    String waiting =
        """
        kernel k(y: f32[BLOCKS], count: u32[1]) grid(bx = BLOCKS) block(tx = 32)
            [cooperative = 1, minBlocks = 2] {
          if tx == 0 {
            red.add.release.u32(&count[0], 1u32)
            while load.acquire.u32(&count[0]) < BLOCKSu32 {
            }
            y[bx] = 1.0f32
          }
        }
        """;
    for (int blocks : List.of(264, 265)) {
      Kernel kernel =
          new IrParser(Intrinsics::find)
              .kernel("waiting", waiting.replace("BLOCKS", String.valueOf(blocks)));
      Arguments arguments = Arguments.random(kernel.params(), SEED);
      arguments.get("count").fill(0);
      List<Finding> findings = new GridInterpreter(kernel, GridOptions.DEFAULT).check(arguments);
      assertThat(findings).extracting(Finding::detail).hasSize(blocks - 264);
      findings.forEach(
          finding ->
              assertThat(finding.detail())
                  .contains("265 blocks wait for each other, and 132 SMs run 264 at once"));
    }
  }

  @Test
  void nothingSpills() {
    Optional<Nvcc> nvcc = CudaCompilers.nvcc();
    assumeTrue(nvcc.isPresent(), "nvcc is not installed: nothing is compiled");
    for (Case each :
        List.of(
            new Case(Attention.of(1, 32, 8, 128, 1, 16384, DType.BF16), 64, 16, 6, 4096),
            new Case(Attention.of(16, 32, 8, 128, 1, 1024, DType.BF16), 64, 1, 4, 4096))) {
      Kernel kernel = each.kernel().kernel();
      String cuda = CudaPrinter.print(kernel, GpuTarget.SM_90A);
      Cubin cubin = nvcc.get().compile(new CompileRequest(cuda, GpuTarget.SM_90A.name()));
      assertThat(cubin.usage(kernel.name()).orElseThrow().isClean())
          .as("%s: %s", each, cubin.log())
          .isTrue();
    }
  }
}
