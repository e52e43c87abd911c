package dev.warpwright.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Kernel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.verify.CheckOptions;
import dev.warpwright.verify.CheckSubject;
import dev.warpwright.verify.Checks;
import java.io.IOException;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The samples of the families: clean in the simulator, and CUDA that compiles. */
class FamilySamplesTest {
  /** Half of them a day, the other half the next. */
  static Stream<String> names() {
    long day = Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay());
    List<String> all = List.copyOf(FamilySamples.names());
    return IntStream.range(0, all.size()).filter(i -> (i + day) % 2 == 0).mapToObj(all::get);
  }

  @ParameterizedTest
  @MethodSource("names")
  void isClean(String name) {
    CheckSubject sample = Objects.requireNonNull(FamilySamples.find(name));
    assertThat(sample.name()).isEqualTo(name.replace('-', '_'));
    assertThat(Checks.check(sample, CheckOptions.of(3).withSchedules(1)))
        .allSatisfy(report -> assertThat(report.findings()).isEmpty());
  }

  @Test
  void compile() throws IOException {
    CudaCompiler compiler = CudaCompilers.nvcc().<CudaCompiler>map(c -> c).orElse(null);
    assumeTrue(compiler != null, "nvcc is not installed");
    List<Kernel> kernels = new ArrayList<>();
    for (CheckSubject sample : FamilySamples.all()) {
      switch (sample) {
        case CheckSubject.OfKernel(Kernel kernel) -> kernels.add(kernel);
        case CheckSubject.OfProgram(var program, _, _) -> kernels.addAll(program.kernels());
        case CheckSubject.OfAttention attention -> kernels.addAll(attention.program().kernels());
        case CheckSubject.OfFunction _, CheckSubject.OfNetwork _, CheckSubject.OfParallel _ ->
            throw new AssertionError(sample);
      }
    }
    List<Kernel> different = new ArrayList<>();
    for (Kernel kernel : kernels) {
      different.add(kernel.withName("k" + different.size()));
    }
    String source = CudaPrinter.print(different, GpuTarget.SM_90A);
    // What optimization makes of the families' kernels is looked at where they are tested.
    CompileRequest request =
        new CompileRequest(
            source, GpuTarget.SM_90A.name(), List.of("-Xcicc", "-O0", "-Xptxas", "-O0"));
    assertThat(compiler.compile(request).bytes()).isNotEmpty();
  }

  @Test
  void thereIsNoneOfAnotherName() {
    assertThat(FamilySamples.find("none")).isNull();
  }
}
