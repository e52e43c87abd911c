package dev.warpwright.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Kernel;
import dev.warpwright.target.GpuTarget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The printed text of a few kernels, kept in files: a change of the printer shows there what it
 * does to kernels. {@code -Dgoldens.update=true} rewrites the files.
 */
class GoldenTest {
  private static final Path FOLDER = Path.of("src/test/resources/dev/warpwright/cuda");

  private static final List<GpuTarget> TARGETS = GpuTarget.ALL;

  static Stream<Kernel> kernels() {
    return Stream.of(
        SampleKernels.naiveMatmul(),
        SampleKernels.tiledMatmul(),
        SampleKernels.tensorCoreLayer(),
        AsyncSample.asyncTf32(),
        SampleKernels.vectorCasts());
  }

  @ParameterizedTest
  @MethodSource("kernels")
  void printsAsBefore(Kernel kernel) throws IOException {
    String text = CudaPrinter.print(kernel, GpuTarget.SM_80);
    Path file = FOLDER.resolve(kernel.name() + ".cu");
    if (Boolean.getBoolean("goldens.update")) {
      Files.createDirectories(FOLDER);
      Files.writeString(file, text);
    }
    assertThat(text).isEqualTo(Files.readString(file));
  }

  /** All of a target at once: most of nvcc's time goes before it comes to the kernel. */
  @ParameterizedTest
  @FieldSource("TARGETS")
  void compileWithoutSpillsWhereverTheyAreSupported(GpuTarget target) {
    Optional<CudaCompiler> compiler = CudaCompilers.system();
    assumeTrue(compiler.isPresent(), "no CUDA compiler: printed kernels are not compiled");
    List<Kernel> supported = new ArrayList<>();
    for (Kernel kernel : kernels().toList()) {
      try {
        assertThat(CudaPrinter.print(kernel, target)).contains("__global__");
        supported.add(kernel);
      } catch (UserError e) {
        assertThat(e).hasMessageContaining("the target is " + target.name());
      }
    }
    if (!target.equals(GpuTarget.SM_75)) {
      assertThat(supported).hasSize(5);
    }
    String text = CudaPrinter.print(supported, target);
    Cubin cubin = compiler.get().compile(new CompileRequest(text, target.name()));
    assertThat(cubin.bytes()).isNotEmpty();
    assertThat(cubin.usage())
        .hasSameSizeAs(supported)
        .allSatisfy(usage -> assertThat(usage.isClean()).as("%s", usage).isTrue());
  }
}
