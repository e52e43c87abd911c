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
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The printed text of a few kernels, kept in files: a change of the printer shows there what it
 * does to kernels. {@code -Dgoldens.update=true} rewrites the files.
 */
class GoldenTest {
  private static final Path FOLDER = Path.of("src/test/resources/dev/warpwright/cuda");

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

  @ParameterizedTest
  @MethodSource("kernels")
  void compilesWithoutSpillsWhereverItIsSupported(Kernel kernel) {
    Optional<CudaCompiler> compiler = CudaCompilers.system();
    assumeTrue(compiler.isPresent(), "no CUDA compiler: printed kernels are not compiled");
    List<String> supported = new ArrayList<>();
    for (GpuTarget target : GpuTarget.ALL) {
      String text;
      try {
        text = CudaPrinter.print(kernel, target);
      } catch (UserError e) {
        assertThat(e).hasMessageContaining("the target is " + target.name());
        continue;
      }
      Cubin cubin = compiler.get().compile(new CompileRequest(text, target.name()));
      assertThat(cubin.bytes()).isNotEmpty();
      assertThat(cubin.usage(kernel.name()))
          .hasValueSatisfying(usage -> assertThat(usage.isClean()).as("%s", usage).isTrue());
      supported.add(target.name());
    }
    assertThat(supported).contains("sm_80", "sm_86", "sm_89", "sm_90a");
  }
}
