package dev.warpwright.cuda.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class CompileErrorTest {
  @Test
  void theMessageIsOneLineWithTheFirstErrorAndTheCount() {
    String log =
        """
        kernel.cu(1): warning #177-D: variable "z" was declared but never referenced
        kernel.cu(1): error: identifier "y" is undefined
          void k(float*x){ x[0]=y; }
        At end of source: error: expected a ")"
        At end of source: error: expected a ";"
        3 errors detected in the compilation of "kernel.cu".
        """;
    CompileError error = CompileError.fromLog("nvcc", "sm_90a", "exit code 2", log);
    assertThat(error)
        .hasMessage(
            "nvcc cannot compile for sm_90a: kernel.cu(1): error: identifier \"y\" is undefined"
                + " (and 2 more errors)");
    assertThat(error.log()).isEqualTo(log);
  }

  @Test
  void aFailureWithoutALogStillSaysSomething() {
    assertThat(CompileError.fromLog("NVRTC 13.0", "sm_80", "NVRTC_ERROR_INTERNAL_ERROR", ""))
        .hasMessage("NVRTC 13.0 cannot compile for sm_80: NVRTC_ERROR_INTERNAL_ERROR");
    assertThat(CompileError.fromLog("nvcc", "sm_80", "exit code 1", "\ngcc: not found\n"))
        .hasMessage("nvcc cannot compile for sm_80: gcc: not found");
  }

  @Test
  void anArchitectureThatIsNoneIsRefused() {
    for (String arch : new String[] {"compute_90a", "sm_9", "90a", "sm_90a -x", ""}) {
      assertThatThrownBy(() -> new CompileRequest("", arch))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'" + arch + "'");
    }
    assertThat(new CompileRequest("", "sm_100f").virtualArch()).isEqualTo("compute_100f");
  }
}
