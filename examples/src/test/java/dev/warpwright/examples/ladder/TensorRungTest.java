package dev.warpwright.examples.ladder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.tuned.FastKernelCheck;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.Verification;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The rungs on tensor cores give the product for every shape, and nothing of them spills. */
final class TensorRungTest {
  private static final int SMS = 4;
  private static final long SEED = 11;

  private static ScheduledGemm gemm(TensorRung rung, long[] s) {
    return rung.schedule(s[0], s[1], s[2], GpuTarget.SM_90A, SMS);
  }

  private static List<DynamicTest> each(List<long[]> shapes, Check check) {
    List<DynamicTest> tests = new ArrayList<>();
    for (TensorRung rung : TensorRung.values()) {
      for (long[] s : shapes) {
        tests.add(
            DynamicTest.dynamicTest(
                String.format(Locale.ROOT, "%s %dx%dx%d", rung.text(), s[0], s[1], s[2]),
                () -> check.of(gemm(rung, s))));
      }
    }
    return tests;
  }

  private interface Check {
    void of(ScheduledGemm gemm) throws Exception;
  }

  @TestFactory
  List<DynamicTest> computesTheProduct() {
    return each(
        List.of(
            new long[] {127, 129, 131},
            new long[] {130, 264, 72},
            new long[] {124, 260, 68},
            new long[] {1, 5, 3}),
        TensorRungTest::simulate);
  }

  private static void simulate(ScheduledGemm gemm) {
    Kernel kernel = gemm.kernel();
    Verifier.require(kernel);
    Arguments expected = Arguments.random(gemm.func().params(), SEED);
    Interpreter.of(gemm.func(), Options.CHECKED).run(expected);
    Arguments arguments = Arguments.random(kernel.params(), SEED);
    for (int t = 0; t < gemm.table().size(); t++) {
      arguments.get("order").setIntegerElement(t, gemm.table().get(t));
    }
    arguments.get("C").poison();
    assertThat(new GridInterpreter(kernel, GridOptions.DEFAULT).check(arguments))
        .as(IrPrinter.text(kernel))
        .isEmpty();
    Verification v = Verification.compare(arguments.get("C"), expected.get("C"));
    assertThat(v.within(2e-2)).as("%s, seed %d", v, SEED).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void compilesWithoutSpills(TensorRung rung) {
    Optional<CudaCompiler> compiler = CudaCompilers.system();
    assumeTrue(compiler.isPresent(), "no CUDA compiler: printed kernels are not compiled");
    List<Kernel> kernels = new ArrayList<>();
    for (long[] shape :
        List.of(
            new long[] {4096, 4096, 4096},
            new long[] {4092, 4092, 4092},
            new long[] {1000, 2000, 3000},
            new long[] {127, 129, 131},
            new long[] {1001, 2001, 3001})) {
      Kernel kernel = gemm(rung, shape).kernel();
      kernels.add(
          kernel.withName(String.format(Locale.ROOT, "m%dn%dk%d", shape[0], shape[1], shape[2])));
    }
    String text = CudaPrinter.print(kernels, GpuTarget.SM_90A);
    Cubin cubin = compiler.get().compile(new CompileRequest(text, "sm_90a"));
    // What the bench refuses.
    for (Kernel kernel : kernels) {
      assertThat(FastKernelCheck.problems(kernel, cubin)).as(kernel.name()).isEmpty();
    }
  }
}
