package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Kernels that begin before the launches before them have ended. */
class OverlappingLaunchesTest {
  private static final long SEED = Long.getLong("seed", 80);

  /** Fewer steps than stages, and more; tiles that reach beyond the matrix. */
  @ParameterizedTest
  @CsvSource({
    "16, 16, 200, 264, 72",
    "16, 13, 1000, 1208, 136",
    "16, 1, 136, 2824, 64",
    "64, 50, 840, 712, 72"
  })
  void theFeedForwardPairIsCorrectAndClean(int bucket, int m, int k1, int n1, int n2) {
    Program pair =
        new IrParser(Intrinsics::find)
            .program("pair", KernelTexts.file("ffn_bf16_sm90_pdl_m" + bucket));
    assertThat(Verifier.verify(pair)).isEmpty();
    Arguments arguments =
        Arguments.random(
            ProgramInterpreter.params(pair), SEED, Map.of("M", m, "K1", k1, "N1", n1, "N2", n2));
    NdArray reference = KernelFilesTest.feedForward(arguments);
    for (GridOptions options : KernelFilesTest.ORDERS) {
      // Pairs of blocks are in residence together.
      GridOptions even = options.withBlocks(options.blocks(), 4);
      arguments.get("Y").poison();
      assertThat(new ProgramInterpreter(pair, even, Options.EXACT).check(arguments))
          .as("%s", options)
          .isEmpty();
      Verification v = Verification.compare(arguments.get("Y").to(DType.F64), reference);
      assertThat(v.within(1e-2)).as("%s: %s, seed %d", options, v, SEED).isTrue();
    }
  }

  /** One warp waits, a barrier lets the others know. */
  private static final String SCALE =
      """
      kernel scale(x: f32[n], w: f32[n], y: f32[n], n: i32 in 1..1024) grid(bx = 2) block(tid = 64)
          [constants = "w"] {
        let i: i32 = bx * 64 + tid
        let s: f32 = w[i]
        griddepcontrol.launch_dependents()
        if tid < 32 {
          griddepcontrol.wait()
        }
        sync_threads()
        y[i] = x[i] * s
      }
      """;

  private static List<Finding> check(String text) {
    Kernel kernel = KernelTexts.parse(text);
    return new GridInterpreter(kernel, GridOptions.DEFAULT)
        .check(Arguments.random(kernel.params(), SEED, Map.of("n", 128)));
  }

  @Test
  void whatAWarpHasWaitedForABarrierLetsTheOthersKnow() {
    assertThat(check(SCALE)).isEmpty();
  }

  @Test
  void whoDoesNotKnowOfTheWaitRacesWithTheLaunchesBefore() {
    List<Finding> findings = check(KernelTexts.replaced(SCALE, "sync_threads()", ""));
    assertThat(findings).extracting(Finding::kind).containsOnly(Finding.Kind.RACE);
    assertThat(findings.toString())
        .contains("write by the launches before")
        .contains("without griddepcontrol.wait between them");
  }

  @Test
  void whatIsNoConstantIsNotReadAhead() {
    assertThat(check(KernelTexts.replaced(SCALE, "[constants = \"w\"]", "")))
        .extracting(Finding::kind)
        .containsExactly(Finding.Kind.RACE);
  }

  @Test
  void aSingleLaneWaitsForItselfAlone() {
    String one = KernelTexts.replaced(SCALE, "if tid < 32 {", "if tid == 0 {");
    assertThat(check(one)).isEmpty();
    List<Finding> findings = check(KernelTexts.replaced(one, "sync_threads()", "sync_warp()"));
    // The other warp knows nothing; in the first one all lanes have met.
    assertThat(findings).extracting(Finding::kind).containsOnly(Finding.Kind.RACE);
    assertThat(findings.toString()).contains("warp 1").doesNotContain("warp 0 ");
  }

  @Test
  void aBlockThatDoesNotWaitBreaksTheChain() {
    String never =
        KernelTexts.replaced(
            KernelTexts.replaced(SCALE, "if tid < 32 {", "if bx == 0 {"), "y[i] = x[i] * s", "");
    Kernel kernel = KernelTexts.parse(never);
    Arguments arguments = Arguments.random(kernel.params(), SEED, Map.of("n", 128));
    assertThatThrownBy(() -> new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments))
        .hasMessageContaining("block (1, 0, 0) ends without griddepcontrol.wait");
  }
}
