package dev.warpwright.cuda.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.target.host.NativeLibraries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class CompilersTest {
  private static final String SOURCE =
      """
      extern "C" __global__ void __launch_bounds__(256) axpy(float a, const float* x, float* y, int n) {
        __shared__ float t[64];
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        t[threadIdx.x & 63] = x[i];
        __syncthreads();
        if (i < n) y[i] = a * x[i] + y[i] + t[(threadIdx.x + 1) & 63];
      }
      """;
  private static final byte[] ELF = {0x7f, 'E', 'L', 'F'};

  @TempDir Path folder;
  @TempDir Path temporary;

  @Test
  void nvccCompiles() throws IOException {
    compiles(nvcc());
  }

  @Test
  void nvrtcCompiles() throws IOException {
    compiles(CudaCompilers.nvrtc().orElse(null));
  }

  @Test
  void nvccRefusesInOneLine() throws IOException {
    refuses(nvcc());
  }

  @Test
  void nvrtcRefusesInOneLine() throws IOException {
    refuses(CudaCompilers.nvrtc().orElse(null));
  }

  /** The installed nvcc, with this test's folder for its temporary files; null if there is none. */
  private CudaCompiler nvcc() {
    return NativeLibraries.system()
        .program("nvcc")
        .map(program -> new Nvcc(program, Duration.ofMinutes(2), temporary))
        .orElse(null);
  }

  private void compiles(CudaCompiler compiler) throws IOException {
    assumeTrue(compiler != null, "the compiler is not installed");
    Cubin cubin = compiler.compile(new CompileRequest(SOURCE, "sm_90a", List.of("-lineinfo")));
    assertThat(cubin.bytes()).startsWith(ELF);
    ResourceUsage usage = cubin.usage("axpy").orElseThrow(() -> new AssertionError(cubin.log()));
    assertThat(usage.registers()).isBetween(4, 64);
    assertThat(usage.staticShared()).isEqualTo(256);
    assertThat(usage.isClean()).isTrue();
    assertThat(cubin.usage("other")).isEmpty();
    nothingIsLeftBehind();
  }

  private void refuses(CudaCompiler compiler) throws IOException {
    assumeTrue(compiler != null, "the compiler is not installed");
    CompileRequest bad =
        new CompileRequest("extern \"C\" __global__ void k(float* x) { x[0] = why; }", "sm_80");
    assertThatThrownBy(() -> compiler.compile(bad))
        .isInstanceOfSatisfying(
            CompileError.class, e -> assertThat(e.log()).contains("kernel.cu(1)"))
        .hasMessageMatching("[^\\n]*sm_80: kernel.cu\\(1\\): error: identifier \"why\"[^\\n]*");
    assertThatThrownBy(() -> compiler.compile(new CompileRequest(SOURCE, "sm_11")))
        .isInstanceOf(CompileError.class)
        .hasMessageNotContaining("\n");
    nothingIsLeftBehind();
  }

  @Test
  @Timeout(value = 30, unit = TimeUnit.SECONDS)
  void aHangingNvccIsEndedWithItsChildrenAndLeavesNothing() throws IOException {
    Path childId = folder.resolve("child");
    Path program =
        program("sh -c 'echo $$ > " + childId + "; exec sleep 60' &\ntouch $TMPDIR/x.ii\nwait");
    Nvcc nvcc = new Nvcc(program, Duration.ofMillis(800), temporary);
    assertThatThrownBy(() -> nvcc.compile(new CompileRequest(SOURCE, "sm_80")))
        .isInstanceOf(CompileError.class)
        .hasMessageContaining("did not finish within");
    nothingIsLeftBehind();
    long child = Long.parseLong(Files.readString(childId).strip());
    assertThat(ProcessHandle.of(child).map(ProcessHandle::isAlive).orElse(false)).isFalse();
  }

  @Test
  void anNvccThatCannotRunIsAnError() throws IOException {
    Path broken = Files.writeString(folder.resolve("broken"), "not a program");
    assertThatThrownBy(
            () ->
                new Nvcc(broken, Duration.ofSeconds(5), temporary)
                    .compile(new CompileRequest(SOURCE, "sm_80")))
        .isInstanceOf(CompileError.class)
        .hasMessageContaining("cannot be run");
    Path silent = program("exit 0");
    assertThatThrownBy(
            () ->
                new Nvcc(silent, Duration.ofSeconds(5), temporary)
                    .compile(new CompileRequest(SOURCE, "sm_80")))
        .isInstanceOf(CompileError.class)
        .hasMessageContaining("exit code 0");
  }

  @Test
  void anNvrtcThatCannotBeLoadedIsAnError() throws IOException {
    Path broken = Files.writeString(folder.resolve("libnvrtc.so.13"), "not a library");
    Nvrtc nvrtc = new Nvrtc(broken);
    assertThat(nvrtc.identity()).contains("libnvrtc.so.13");
    assertThatThrownBy(() -> nvrtc.compile(new CompileRequest(SOURCE, "sm_80")))
        .isInstanceOf(CompileError.class)
        .hasMessageStartingWith("cannot load " + broken);
  }

  private Path program(String script) throws IOException {
    Path file = Files.createTempFile(folder, "nvcc", "");
    Files.writeString(file, "#!/bin/sh\n" + script + "\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
    return file;
  }

  private void nothingIsLeftBehind() throws IOException {
    try (Stream<Path> files = Files.list(temporary)) {
      assertThat(files).isEmpty();
    }
  }
}
