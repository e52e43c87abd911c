package dev.warpwright.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.tuned.FastKernelCheck;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.ir.text.IrFile;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.kernel.BoundKernel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The kernels under {@code kernels/}: well formed, bound to their workloads, and fast. */
class KernelFilesTest {
  private static final List<Map<String, Long>> SHAPES =
      List.of(
          Map.of("M", 4096L, "N", 4096L, "K", 4160L, "K1", 4096L, "N1", 14_336L, "N2", 4096L),
          Map.of("M", 1000L, "N", 2000L, "K", 3008L, "K1", 1000L, "N1", 2000L, "N2", 3008L));

  /** Those that say what they compute; networks are compiled by ChainedNetworkCompileTest. */
  static Stream<Path> workloads() throws IOException {
    List<Path> found = new ArrayList<>();
    for (Path file : files().toList()) {
      if (Files.readString(file).contains("workload = ")) {
        found.add(file);
      }
    }
    assertThat(found).hasSizeGreaterThanOrEqualTo(6);
    return found.stream();
  }

  static Stream<Path> files() throws IOException {
    Path folder =
        Stream.of("../kernels", "kernels")
            .map(Path::of)
            .filter(Files::isDirectory)
            .findFirst()
            .orElseThrow();
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(f -> f.toString().endsWith(".kernel")).sorted().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("workloads")
  void compilesToAFastKernelForItsArchitecture(Path file) throws IOException {
    Kernel kernel = new IrParser(Intrinsics::find).kernel(file.toString(), Files.readString(file));
    assertThat(Verifier.verify(kernel)).isEmpty();
    GpuTarget target = GpuTarget.find(kernel.attrs().getString("arch")).orElseThrow();
    assertThat(kernel.attrs().getLong("fast", 0)).isEqualTo(1);
    CudaCompiler compiler = CudaCompilers.nvcc().<CudaCompiler>map(c -> c).orElse(null);
    List<Kernel> shaped = new ArrayList<>();
    for (Map<String, Long> shape : SHAPES) {
      BoundKernel bound = BoundKernel.of(kernel, values(kernel, shape));
      assertThat(bound.kernel().scalars()).isEmpty();
      assertThat(Verifier.verify(bound.kernel())).isEmpty();
      shaped.add(bound.kernel().withName("m" + shape.get("M")));
    }
    String source = CudaPrinter.print(shaped, target);
    assumeTrue(compiler != null, "nvcc is not installed");
    Cubin cubin = compiler.compile(new CompileRequest(source, target.name()));
    for (Kernel each : shaped) {
      assertThat(FastKernelCheck.problems(each, cubin)).as(each.name()).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("files")
  void staysTheSameWhenPrintedAndParsed(Path file) throws IOException {
    IrParser parser = new IrParser(Intrinsics::find);
    IrFile content = parser.file(file.toString(), Files.readString(file));
    for (Program program : content.programs()) {
      assertThat(Verifier.verify(program)).isEmpty();
      String text = IrPrinter.text(program);
      Program again = parser.program(file.toString(), text);
      assertThat(StructuralEquality.equal(again, program)).as("%s", text).isTrue();
      assertThat(IrPrinter.text(again)).isEqualTo(text);
    }
    assertThat(content.kernels().size() + content.programs().size()).isEqualTo(1);
    if (content.kernels().isEmpty()) {
      return;
    }
    Kernel kernel = content.kernels().getFirst();
    boolean bound = kernel.attrs().getString("workload") != null;
    for (Map<String, Long> shape : SHAPES) {
      List<Kernel> forms =
          bound
              ? List.of(kernel, BoundKernel.of(kernel, values(kernel, shape)).kernel())
              : List.of(kernel);
      for (Kernel form : forms) {
        String text = IrPrinter.text(form);
        Kernel again = parser.kernel(file.toString(), text);
        assertThat(StructuralEquality.equal(again, form)).as("%s", text).isTrue();
        assertThat(IrPrinter.text(again)).isEqualTo(text);
      }
    }
  }

  /** What the kernel takes of a shape, as far as its ranges allow. */
  private static Map<String, Long> values(Kernel kernel, Map<String, Long> shape) {
    Map<String, Long> values = new HashMap<>();
    for (ScalarParam scalar : kernel.scalars()) {
      if (shape.containsKey(scalar.name())) {
        values.put(scalar.name(), Math.clamp(shape.get(scalar.name()), scalar.min(), scalar.max()));
      }
    }
    return values;
  }
}
