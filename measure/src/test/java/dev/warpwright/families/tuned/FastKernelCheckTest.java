package dev.warpwright.families.tuned;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.SampleKernels;
import java.util.List;
import org.junit.jupiter.api.Test;

class FastKernelCheckTest {
  private static final String CLEAN =
      """
      ptxas info    : Compiling entry function 'k' for 'sm_90a'
      ptxas info    : Function properties for k
          0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
      ptxas info    : Used 168 registers, used 4 barriers, 64 bytes smem
      """;

  private static List<String> problems(String log) {
    return FastKernelCheck.problems(kernel("fast = 1"), new Cubin(new byte[0], log));
  }

  private static Kernel kernel(String attrs) {
    return SampleKernels.parse(
        "kernel k(x: f32[1]) grid(bx = 1) block(tx = 32) [" + attrs + "] { x[0] = 1.0f32 }");
  }

  @Test
  void whatStaysInRegistersIsFast() {
    assertThat(problems(CLEAN)).isEmpty();
  }

  @Test
  void spillsAndLocalMemoryAreNot() {
    assertThat(
            problems(
                CLEAN.replace(
                    "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads",
                    "40 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads")))
        .containsExactly(
            "8 bytes of spill stores, 12 bytes of spill loads",
            "40 bytes of local memory a thread");
  }

  @Test
  void serialisedMatrixInstructionsAreNot() {
    String remark =
        "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are"
            + " serialized due to insufficient register resources for the wgmma pipeline in"
            + " function 'k'";
    assertThat(problems(CLEAN + remark + "\n")).containsExactly(remark);
    assertThat(problems(CLEAN + "ptxas info    : (C7519) waits added in 'k'\n")).hasSize(1);
    assertThat(FastKernelCheck.message(kernel("fast = 1"), problems(CLEAN + remark)))
        .startsWith("kernel k is marked fast, but has ptxas info    : (C7510)")
        .doesNotContain("\n");
  }

  /** What there is against kernels, of which the one is taken that there is least against. */
  @Test
  void waitingMatrixInstructionsWeighAsMuchAsManySpills() {
    String spilling =
        CLEAN.replace(
            "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads",
            "16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads");
    String waiting = "ptxas info    : (C7512) waits added in 'k'\n";
    String fenced = "ptxas info    : (C7519) warpgroup.arrive is injected in function 'k'\n";
    assertThat(spills("fast = 1", CLEAN + fenced)).isEqualTo(1);
    assertThat(spills("fast = 1", CLEAN)).isZero();
    assertThat(spills("x = 1", CLEAN + waiting)).isZero();
    assertThat(spills("x = 1", spilling)).isEqualTo(20);
    assertThat(spills("fast = 1", spilling)).isEqualTo(20);
    assertThat(spills("fast = 1", CLEAN + waiting)).isGreaterThan(2000);
    assertThat(spills("fast = 1", spilling + waiting)).isEqualTo(2048 + 20);
    assertThat(spills("fast = 1", "")).isEqualTo(1);
  }

  private static int spills(String attrs, String log) {
    return CompiledCheck.spills(kernel(attrs), new Cubin(new byte[0], log));
  }

  /** sinf keeps a few quotients there where its argument is large; a kernel without it may not. */
  @Test
  void sinesMayHaveLocalMemory() {
    String log = CLEAN.replace("0 bytes stack", "32 bytes stack");
    Kernel sines =
        SampleKernels.parse(
            "kernel k(x: f32[1]) grid(bx = 1) block(tx = 32) [fast = 1] { x[0] = sin(x[0]) }");
    assertThat(FastKernelCheck.problems(sines, new Cubin(new byte[0], log))).isEmpty();
    assertThat(problems(log)).containsExactly("32 bytes of local memory a thread");
    assertThat(
            FastKernelCheck.problems(
                sines, new Cubin(new byte[0], log.replace("32 bytes", "40 bytes"))))
        .containsExactly("40 bytes of local memory a thread");
  }

  @Test
  void otherKernelsMayDoAsTheyLike() {
    String log = CLEAN.replace("0 bytes stack", "40 bytes stack");
    assertThat(FastKernelCheck.problems(kernel("x = 1"), new Cubin(new byte[0], log))).isEmpty();
  }

  @Test
  void aLogThatSaysNothingIsNoProof() {
    assertThat(problems("")).containsExactly("the compiler did not report what kernel k uses");
  }
}
