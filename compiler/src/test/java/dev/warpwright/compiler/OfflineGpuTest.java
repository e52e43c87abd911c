package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.measure.fake.FakeCompiler;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** What is compiled to choose kernels for a GPU that is not here. */
@Isolated("takes the compiler's place in this process")
final class OfflineGpuTest {
  private static final Model DIGITS =
      Warpwright.load(Path.of("..", "models", "digits-relu-128-64", "model.onnx"));

  /** Of the first sources so many spill; of all others none does. */
  private static final class Compiler implements CudaCompiler {
    private final FakeCompiler fake = new FakeCompiler();
    private final Set<String> sources = new HashSet<>();
    int spilling;
    boolean broken;

    @Override
    public String describe() {
      return fake.describe();
    }

    @Override
    public String identity() {
      return fake.identity();
    }

    @Override
    public Cubin compile(CompileRequest request) {
      if (broken) {
        throw new DeviceError("there is no memory for the compiler");
      }
      sources.add(request.source());
      boolean first = sources.size() <= spilling;
      fake.spill("network", first ? 64 : 0);
      return fake.compile(request);
    }
  }

  private final Compiler compiler = new Compiler();

  @BeforeEach
  void install() {
    CudaCompilers.replace(compiler);
  }

  @AfterEach
  void restore() {
    CudaCompilers.replace(null);
  }

  private static String kernel(OfflineGpu gpu) {
    try (CompiledModel model = DIGITS.compile(gpu, Precision.F16)) {
      return IrPrinter.text(model.program(4096).kernels().getFirst().kernel());
    }
  }

  @Test
  void theFirstChoiceIsNotCompiled() {
    compiler.spilling = 1;
    kernel(new OfflineGpu(GpuTarget.SM_90A));
    assertThat(compiler.sources).isEmpty();
  }

  @Test
  void whereItIsCheckedWhatSpillsIsPassedOver() {
    String first = kernel(new OfflineGpu(GpuTarget.SM_90A));
    OfflineGpu checked = new OfflineGpu(GpuTarget.SM_90A, true);
    assertThat(kernel(checked)).isEqualTo(first);
    assertThat(compiler.sources).hasSize(1);
    compiler.sources.clear();
    compiler.spilling = 1;
    assertThat(kernel(checked)).isNotEqualTo(first);
    assertThat(compiler.sources).hasSize(2);
  }

  @Test
  void aCompilerThatDoesNotWorkSaysNothing() {
    String first = kernel(new OfflineGpu(GpuTarget.SM_90A));
    compiler.broken = true;
    assertThat(kernel(new OfflineGpu(GpuTarget.SM_90A, true))).isEqualTo(first);
  }
}
