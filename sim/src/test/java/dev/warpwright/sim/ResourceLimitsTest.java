package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.target.GpuTarget;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a target does not have is found before anything runs. */
class ResourceLimitsTest {
  private static List<Finding> check(String text, GpuTarget target) {
    Kernel kernel = KernelTexts.parse(text);
    return new GridInterpreter(kernel, GridOptions.DEFAULT.withTarget(target))
        .check(Arguments.random(kernel.params(), 3, Map.of()));
  }

  private static String kernel(String launch, long sharedFloats, String call) {
    return String.format(
        Locale.ROOT,
        """
        kernel k(y: f32[32]) %s {
          alloc s: f32[%d] shared
          alloc r: f32[4] local
          unroll i in 4 {
            r[i] = 0.0f32
          }
          %s
          s[t] = r[0]
          y[t] = s[t]
        }
        """,
        launch,
        sharedFloats,
        call);
  }

  @ParameterizedTest
  @CsvSource({
    "sm_75, 16384, true",
    "sm_75, 16385, false",
    "sm_80, 41728, true",
    "sm_80, 41729, false",
    "sm_90a, 58112, true",
    "sm_90a, 58113, false",
  })
  void sharedMemory(String target, long floats, boolean fits) {
    List<Finding> findings =
        check(
            kernel("grid(b = 1) block(t = 32)", floats, ""), GpuTarget.find(target).orElseThrow());
    assertThat(findings.isEmpty()).isEqualTo(fits);
    if (!fits) {
      assertThat(findings.getFirst().kind()).isEqualTo(Finding.Kind.RESOURCES);
      assertThat(findings.getFirst().message())
          .contains("bytes of shared memory", "on " + target, "alloc s");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'grid(b = 1) block(t = 32) [minBlocks = 33]', 32, '33 blocks of 32 threads'",
    "'grid(b = 9) block(t = 32) [cluster = 9]', 32, 'clusters of 9 blocks, of at most 8'",
    "'grid(b = 1, c = 65536) block(t = 32)', 32, 'at most 65535 along y and z'",
  })
  void launches(String launch, long floats, String what) {
    List<Finding> findings = check(kernel(launch, floats, ""), GpuTarget.SM_90A);
    assertThat(findings).hasSize(1);
    assertThat(findings.getFirst().kind()).isEqualTo(Finding.Kind.RESOURCES);
    assertThat(findings.getFirst().message()).contains(what);
  }

  @Test
  void clustersAndInstructionsOfAnotherTarget() {
    assertThat(
            check(kernel("grid(b = 2) block(t = 32) [cluster = 2]", 32, ""), GpuTarget.SM_80)
                .getFirst()
                .message())
        .contains("there are no clusters on sm_80");
    String copy = kernel("grid(b = 1) block(t = 32)", 32, "cp.async.commit()");
    assertThat(check(copy, GpuTarget.SM_80)).isEmpty();
    assertThat(check(copy, GpuTarget.SM_75).getFirst().message())
        .contains("there is no cp.async.commit on sm_75", "in line");
  }

  /** A kernel for newer targets than the one given runs on the oldest of them. */
  @Test
  void theKernelsOwnTarget() {
    String text = kernel("grid(b = 1) block(t = 32) [arch = \"sm_80\"]", 20000, "");
    assertThat(check(text, GpuTarget.SM_75)).isEmpty();
    assertThat(check(text, GpuTarget.SM_90A)).isEmpty();
  }
}
