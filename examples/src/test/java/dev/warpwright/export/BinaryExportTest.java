package dev.warpwright.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.base.json.JsonFields;
import dev.warpwright.base.json.JsonParser;
import dev.warpwright.compiler.OfflineGpu;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.export.CudaExport.Form;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Exports of machine code: what C and Java compilers say of the hosts. */
final class BinaryExportTest {
  private static final Path CUDA_HEADERS = Path.of("/usr/local/cuda/include");

  @TempDir Path folder;

  @BeforeEach
  void needsCompiler() {
    assumeTrue(CudaCompilers.system().isPresent(), "no CUDA compiler is installed");
  }

  /** Tables and tensor maps; a workspace that depends on the rows; overlapping launches. */
  private static Map<String, byte[]> what(String name, Form form) {
    if (name.equals("gemm")) {
      try (GemmKernels kernels = GemmKernels.of(GpuTarget.SM_90A)) {
        var gemm = kernels.require(GemmWorkload.nt(4096, 4096, 4096, DType.BF16)).gemm();
        return CudaExport.kernel(
            gemm.kernel(), "score", GpuTarget.SM_90A, form, "A GEMM", gemm.trace());
      }
    }
    String[] words = name.split(" ");
    return CudaExport.model(
        "score",
        Warpwright.load(Path.of("..", "models", words[0], "model.onnx")),
        Precision.F16,
        List.of(new OfflineGpu(GpuTarget.find(words[1]).orElseThrow())),
        form,
        16,
        "A model");
  }

  private static String text(Map<String, byte[]> files, String name) {
    return new String(files.getOrDefault(name, new byte[0]), StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @ValueSource(strings = {"gemm", "ffn-swiglu-128-352 sm_90a"})
  void aLoaderInCAndAManifestComeWithMachineCode(String name)
      throws IOException, InterruptedException {
    Map<String, byte[]> files = what(name, Form.CUBIN);
    byte[] cubin = files.getOrDefault("score.cubin", new byte[4]);
    assertThat(new String(cubin, 1, 3, StandardCharsets.US_ASCII)).isEqualTo("ELF");
    String manifest = text(files, "score.json");
    JsonFields fields = JsonFields.of("manifest", JsonParser.parse("manifest", manifest));
    assertThat(fields.text("cubin")).isEqualTo("score.cubin");
    assertThat(manifest).contains("\"entry\": \"", "\"arguments\": [", "\"workspace\": [");
    assertThat(files).doesNotContainKeys("kernel.cuh", "main.cu");
    assumeTrue(Files.exists(CUDA_HEADERS.resolve("cuda.h")), "CUDA's headers are not installed");
    Files.writeString(folder.resolve("score.h"), text(files, "score.h"));
    Files.writeString(
        folder.resolve("use.c"), "#include \"score.h\"\nint main(void) { return 0; }\n");
    Process process =
        new ProcessBuilder(
                "gcc",
                "-std=c99",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-isystem",
                CUDA_HEADERS.toString(),
                "-fsyntax-only",
                "use.c")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"gemm", "ffn-swiglu-128-352 sm_90a"})
  void aJavaClassHasItsMachineCode(String name) throws IOException {
    Map<String, byte[]> files = what(name, Form.JAVA);
    assertThat(files).containsKey("Score.java");
    Path source =
        Files.write(folder.resolve("Score.java"), files.getOrDefault("Score.java", new byte[0]));
    var compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler());
    StringWriter said = new StringWriter();
    try (var manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
      boolean compiled =
          compiler
              .getTask(
                  said,
                  manager,
                  null,
                  List.of(
                      "-Xlint:all",
                      "-Werror",
                      "-proc:none",
                      "-d",
                      folder.toString(),
                      "-cp",
                      System.getProperty("java.class.path")
                          + ":"
                          + System.getProperty("jdk.module.path", "")),
                  null,
                  manager.getJavaFileObjects(source))
              .call();
      assertThat(compiled).as(said.toString()).isTrue();
    }
    assertThat(folder.resolve("Score.class")).exists();
  }
}
