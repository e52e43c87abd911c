package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.synthetic.RandomFfn;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Both launches of a feed-forward block of few rows begin before the one before has ended. */
final class OverlappingBlockTest {
  private static final Graph GRAPH =
      new RandomFfn(1040, 1040, true, Activation.SILU, true).graph(DType.BF16, 1);

  private static CompiledModel model;

  @BeforeAll
  static void compile() {
    model = new Model(GRAPH).compile(new SimulatedDevice(GpuTarget.SM_90A), Precision.BF16);
  }

  @AfterAll
  static void close() {
    model.close();
  }

  @Test
  void theyOverlapAndAreClean() {
    CompiledProgram compiled = model.program(5);
    assertThat(compiled.program().kernels()).hasSize(2).allMatch(LaunchOrder::overlaps);
    assertThat(Verifier.verify(compiled.program())).isEmpty();
    // It is for 16 rows, whatever the options say of networks that are for any number.
    CheckReport report =
        Checks.check(
                new CheckSubject.OfNetwork(compiled, GRAPH),
                new CheckOptions(7, 1, OptionalInt.of(1), Map.of(), OptionalInt.of(37)))
            .getFirst();
    assertThat(report.findings()).isEmpty();
    assertThat(report.comparedWith()).isEqualTo("its graph");
    assertThat(report.scalars()).containsEntry("rows", 16L);
  }

  /** A read ahead of the wait is what it is: a race with the launch before. */
  @Test
  void whoDoesNotWaitIsFound() {
    CompiledProgram compiled = model.program(5);
    for (int launch = 0; launch < 2; launch++) {
      Program hasty = hasty(compiled.program(), launch);
      List<Finding> findings = findings(compiled, hasty);
      assertThat(findings).as("launch %d", launch).isNotEmpty();
    }
  }

  /** What lies between short launches counts, whatever their rows are. */
  @Test
  void moreRowsOverlapWhereLaunchesAreShort() {
    CompiledProgram compiled = model.program(65);
    assertThat(compiled.program().kernels()).allMatch(LaunchOrder::overlaps);
    assertThat(findings(compiled, compiled.program())).isEmpty();
  }

  private static List<Finding> findings(CompiledProgram compiled, Program program) {
    return new ProgramInterpreter(program, GridOptions.DEFAULT, Options.CHECKED)
        .check(Checks.arguments(compiled, compiled.fixedRows().orElseThrow(), 7));
  }

  /** A program one of whose launches does not wait where it copies. */
  private static Program hasty(Program program, int which) {
    Kernel kernel = program.kernels().get(which);
    boolean[] signalled = {false};
    Kernel changed =
        kernel.withBody(
            new Rewriter() {
              @Override
              public Stmt stmt(Stmt s) {
                if (s instanceof Stmt.Evaluate e && e.call().op() == HopperIntrinsics.SIGNAL_NEXT) {
                  signalled[0] = true;
                }
                return signalled[0] && LaunchOrder.awaitsPrevious(s)
                    ? Stmt.Seq.EMPTY
                    : super.stmt(s);
              }
            }.stmt(kernel.body()));
    List<Program.Step> steps =
        program.steps().stream()
            .map(
                step ->
                    step instanceof Program.Launch launch && launch.kernel() == kernel
                        ? new Program.Launch(changed, launch.arguments())
                        : step)
            .toList();
    return new Program(program.name(), program.params(), program.workspace(), steps);
  }
}
