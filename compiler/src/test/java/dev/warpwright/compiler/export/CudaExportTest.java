package dev.warpwright.compiler.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.compiler.ladder.Ladder;
import dev.warpwright.compiler.ladder.Rung;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.StructuralEquality;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.schedule.trace.Trace;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CudaExportTest {
  private static Map<String, String> rung(String name, long m, long n, long k) {
    Rung rung = Ladder.require(name);
    return CudaExport.files(
        Ladder.kernel(rung, m, n, k),
        GpuTarget.SM_90A,
        "A rung",
        rung.schedule(Ladder.matmul(m, n, k)).trace());
  }

  @Test
  void theHeaderTellsTheSchedule() {
    Map<String, String> files = rung("async-copies", 512, 256, 128);
    assertThat(files).containsOnlyKeys("kernel.cuh", "main.cu", "CMakeLists.txt", "trace.json");
    assertThat(files.get("kernel.cuh"))
        .startsWith("// A rung.\n")
        .contains("//   transformLayout(A_shared, order = 1,0)")
        .contains("constexpr int kM = 512;")
        .contains("constexpr int kDynamicSharedBytes = 49648;")
        .contains("#pragma unroll")
        .contains("cp_async_16(");
    assertThat(files.get("kernel.cuh").lines().count()).as("lines").isLessThan(400);
    var matmul = Ladder.matmul(512, 256, 128);
    var replayed = Trace.parse(files.get("trace.json")).replay(matmul);
    assertThat(
            StructuralEquality.difference(
                Ladder.require("async-copies").schedule(matmul).func(), replayed))
        .isEmpty();
  }

  @Test
  void nvccAloneCompilesIt(@TempDir Path folder) throws IOException, InterruptedException {
    assumeTrue(CudaCompilers.nvcc().isPresent(), "nvcc is not installed");
    for (Map.Entry<String, String> file : rung("double-buffering", 1000, 2000, 3000).entrySet()) {
      Files.writeString(folder.resolve(file.getKey()), file.getValue());
    }
    Process nvcc =
        new ProcessBuilder(
                "nvcc",
                "-arch=sm_90a",
                "-fmad=false",
                "-Werror",
                "all-warnings",
                "-o",
                "x",
                "main.cu")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(nvcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(nvcc.waitFor()).as(output).isZero();
    assertThat(folder.resolve("x")).isExecutable();
  }

  @Test
  void whatTheHostProgramCannotLaunchIsRefused() {
    assertThatThrownBy(
            () -> export("kernel k(x: f16[8]) grid(bx = 1) block(tx = 8) { x[tx] = x[tx] }"))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("x is f16, not f32");
    assertThatThrownBy(
            () ->
                export(
                    "kernel k(x: f32[n], n: i32 in 1..8) grid(bx = 1) block(tx = 1) { x[0] = 0.0f32 }"))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("no value for n");
  }

  @Test
  void aKernelWithoutWorkloadIsLaunchedAndTimed() {
    Map<String, String> files =
        export("kernel k(x: f32[8], y: f32[8]) grid(bx = 1) block(tx = 8) { y[tx] = x[tx] }");
    assertThat(files).doesNotContainKey("trace.json");
    assertThat(files.get("main.cu"))
        .contains("random_values(8, 1)")
        .contains("k<<<grid, block, kDynamicSharedBytes>>>(d_x, d_y)")
        .doesNotContain("relative error");
  }

  private static Map<String, String> export(String text) {
    Kernel kernel = new IrParser(Intrinsics::find).file("test", text).kernels().getFirst();
    return CudaExport.files(kernel, GpuTarget.SM_90A, "A kernel", null);
  }
}
