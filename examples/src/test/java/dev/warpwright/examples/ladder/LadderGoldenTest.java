package dev.warpwright.examples.ladder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.examples.golden.Goldens;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.target.GpuTarget;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every rung as it is after the schedule, after each pass, and as CUDA C++, which compiles. */
final class LadderGoldenTest {
  private static final long MN = 256;
  private static final long K = 64;

  @TestFactory
  List<DynamicTest> isAsBefore() {
    return Ladder.RUNGS.stream()
        .map(rung -> DynamicTest.dynamicTest(rung.name(), () -> compare(rung)))
        .toList();
  }

  private static void compare(Rung rung) throws IOException {
    Goldens steps = new Goldens();
    PrimFunc scheduled = steps.tell("the schedule", rung.schedule(Ladder.matmul(MN, MN, K)).func());
    Kernel kernel = SimtLowering.lower(scheduled, steps);
    steps.after("CudaPrinter, sm_90a", () -> CudaPrinter.print(kernel, GpuTarget.SM_90A));
    Goldens.compare("ladder/" + rung.name() + ".txt", steps.text());
  }

  @Test
  void compiles() {
    var nvcc = CudaCompilers.nvcc();
    assumeTrue(nvcc.isPresent(), "nvcc is not installed: the text is as it was, not compiled");
    List<Kernel> kernels =
        Ladder.RUNGS.stream().map(rung -> Ladder.kernel(rung, MN, MN, K)).toList();
    String together = CudaPrinter.print(kernels, GpuTarget.SM_90A);
    assertThat(nvcc.get().compile(new CompileRequest(together, "sm_90a")).usage())
        .hasSize(kernels.size())
        .allSatisfy(usage -> assertThat(usage.isClean()).as("%s", usage).isTrue());
  }
}
