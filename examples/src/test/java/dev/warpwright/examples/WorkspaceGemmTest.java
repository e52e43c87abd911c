package dev.warpwright.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.Verification;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/** Parts of K summed through a workspace, by two grids of one program. */
class WorkspaceGemmTest {
  private static final long SEED = Long.getLong("seed", 9);
  private static final Epilogue ALL = new Epilogue(0.5, 2, true, Activation.GELU_TANH);
  private static final HopperConfig SMALL = HopperConfig.pairs(64, 64, 3, 1, 4).withCluster(1, 1);

  static Stream<ArgumentSet> cases() {
    return Stream.of(
        set(GemmWorkload.nt(100, 72, 256, DType.BF16), SMALL, 4),
        set(
            new GemmWorkload(70, 136, 384, DType.F16, DType.F16, GemmWorkload.Layout.NT, ALL),
            SMALL,
            2),
        set(
            GemmWorkload.nt(13, 77, 256, DType.BF16),
            new HopperConfig(16, 64, 64, 3, 1, 1, 1, new BlockOrder.Row(), 0, 2, true),
            2));
  }

  private static ArgumentSet set(GemmWorkload workload, HopperConfig config, int parts) {
    return org.junit.jupiter.params.provider.Arguments.argumentSet(
        workload + " in " + parts, workload, config, parts);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void computesTheProduct(GemmWorkload workload, HopperConfig config, int parts) {
    WorkspaceGemm gemm = WorkspaceGemm.schedule(workload, config, parts);
    Program program = gemm.program();
    assertThat(Verifier.verify(program)).isEmpty();
    for (Kernel kernel : program.kernels()) {
      assertThat(Verifier.verify(kernel)).isEmpty();
    }
    Arguments expected = Arguments.random(gemm.func().params(), SEED);
    Interpreter.of(gemm.func(), Options.CHECKED).run(expected);
    for (GridOptions options : List.of(GridOptions.DEFAULT, GridOptions.random(SEED))) {
      Arguments arguments = arguments(gemm, expected);
      assertThat(new ProgramInterpreter(program, options, Options.CHECKED).check(arguments))
          .isEmpty();
      Verification v = Verification.compare(arguments.get("C"), expected.get("C"));
      assertThat(v.within(4e-3)).as("%s: %s, seed %d", options, v, SEED).isTrue();
    }
  }

  private static Arguments arguments(WorkspaceGemm gemm, Arguments expected) {
    List<Program.ProgramParam> params = gemm.program().params();
    Arguments arguments =
        Arguments.random(params.stream().map(Program.ProgramParam::param).toList(), SEED);
    for (Program.ProgramParam p : params) {
      Buffer buffer = (Buffer) p.param();
      switch (p.role()) {
        case INPUT -> arguments.bind(buffer, expected.get(buffer.name()));
        case OUTPUT -> arguments.get(buffer).poison();
        case CONSTANT -> {
          for (int t = 0; t < gemm.parts().table().size(); t++) {
            arguments.get(buffer).setIntegerElement(t, gemm.parts().table().get(t));
          }
        }
        case SCALAR -> throw new AssertionError(p);
      }
    }
    return arguments;
  }

  @Test
  void partsAreWholeSteps() {
    assertThatThrownBy(
            () -> WorkspaceGemm.schedule(GemmWorkload.nt(64, 64, 200, DType.BF16), SMALL, 2))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("2 parts of K=200 are no whole steps of 64");
    assertThatThrownBy(
            () -> WorkspaceGemm.schedule(GemmWorkload.nt(64, 64, 256, DType.BF16), SMALL, 1))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("2 parts or more");
  }
}
