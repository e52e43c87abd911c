package dev.warpwright.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Networks that are chained in registers keep everything there. */
class ChainedNetworkCompileTest {
  @ParameterizedTest
  @ValueSource(strings = {"64x4", "64x8", "128x4", "128x8"})
  void nothingSpillsAndNoProductsAreSerialised(String shape) throws IOException {
    String name = "mlp_f16_sm90_" + shape;
    Kernel kernel =
        new IrParser(Intrinsics::find)
            .kernel(name, Files.readString(Path.of("..", "kernels", name + ".kernel")));
    String text = CudaPrinter.print(kernel, GpuTarget.SM_90A);
    assertThat(text)
        .as("input and output are accesses of 16 bytes, without branches around loads")
        .contains("load_if(", "(const Vec<unsigned, 4>*)&x[")
        .contains("*(Vec<f16, 8>*)&y[");
    Optional<CudaCompiler> compiler = CudaCompilers.system();
    assumeTrue(compiler.isPresent(), "no CUDA compiler: networks are not compiled");
    assertThat(compiler.get().compile(new CompileRequest(text, "sm_90a")).usage())
        .singleElement()
        .matches(ResourceUsage::isClean);
  }
}
