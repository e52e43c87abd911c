package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.CounterIntrinsics;
import dev.warpwright.verify.MutationTesting.Verdict;
import dev.warpwright.verify.mutation.Mutant;
import dev.warpwright.verify.mutation.Mutation;
import dev.warpwright.verify.mutation.Mutations;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Mistakes in how blocks combine the parts of a tile, or wait for each other's tiles, do not stay
 * hidden.
 */
class DividedWorkMutationTest {
  private static final long SEED = 3;
  private static final int MOST = Integer.getInteger("mutants", 2);

  /** All kinds with {@code -Dmutants=N}. */
  private static final List<String> KINDS =
      Integer.getInteger("mutants") != null
          ? Mutations.ALL.stream().map(Mutation::name).toList()
          : List.of(
              "counter published without release",
              "counter never published",
              "counter read without acquire",
              "counter not waited for",
              "named barrier removed",
              "block barrier removed");

  static Stream<MutationSubject> subjects() {
    return Stream.of(
        subject("parts", hopper("parts:3")),
        subject("stream", hopper("stream:1")),
        subject("mma.sync", mmaSync()),
        subject("merged", FusedGridMutationTest.mmaSync(FusedGridMutationTest.SHARING)),
        subject("merged by tiles", FusedGridMutationTest.mmaSync(FusedGridMutationTest.BY_TILES)),
        subject(
            "merged warpgroups", FusedGridMutationTest.warpgroups(FusedGridMutationTest.SHARING)),
        subject(
            "merged warpgroups by tiles",
            FusedGridMutationTest.warpgroups(FusedGridMutationTest.BY_TILES)),
        subject("merged threads", FusedGridMutationTest.threads()));
  }

  private static Kernel hopper(String division) {
    return HopperGemm.schedule(
            GemmWorkload.nt(100, 72, 328, DType.BF16),
            HopperConfig.pairs(64, 64, 2, 1, 3)
                .withCluster(1, 1)
                .withDivision(WorkDivision.parse(division)))
        .kernel();
  }

  private static Kernel mmaSync() {
    return AmpereGemm.schedule(
            GemmWorkload.nt(60, 72, 200, DType.F16),
            new AmpereConfig(64, 64, 32, 2, 2, 2, 1, new BlockOrder.Row(), false)
                .withDivision(new WorkDivision.Parts(3), 0),
            GpuTarget.SM_80)
        .kernel();
  }

  private static MutationSubject subject(String name, Kernel kernel) {
    return MutationSubject.of(name, BoundKernel.of(kernel, Map.of()), SEED);
  }

  @ParameterizedTest
  @MethodSource("subjects")
  void areReported(MutationSubject subject) {
    MutationTesting testing =
        new MutationTesting(subject, CheckOptions.of(5).withSchedules(4).orders());
    List<String> missed = new ArrayList<>();
    List<String> reported = new ArrayList<>();
    for (String kind : KINDS) {
      List<Mutant> mutants = Mutations.named(kind).plant(subject.kernel());
      for (Mutant mutant : mutants.subList(0, Math.min(MOST, mutants.size()))) {
        MutationTesting.Result result = testing.test(mutant);
        if (result.verdict() == Verdict.SURVIVED) {
          missed.add(result.toString());
        }
        if (result.verdict() == Verdict.REPORTED) {
          reported.add(kind);
        }
      }
    }
    assertThat(missed).isEmpty();
    assertThat(reported)
        .contains(
            "counter published without release",
            "counter never published",
            "counter read without acquire",
            "counter not waited for");
  }

  /**
   * Whoever begins last finishes a tile. If the last part did instead, a block could wait for one
   * that is never started.
   */
  @Test
  void waitingForPartsThatHaveNotBegunIsADeadlock() {
    Kernel kernel = hopper("parts:3");
    Var[] number = {null};
    Walk.statements(
        kernel.body(),
        s -> {
          if (s instanceof Stmt.Let let && let.var().name().equals("number")) {
            number[0] = let.var();
          }
        });
    Stmt body =
        new Rewriter() {
          private Var here = number[0];

          @Override
          public Stmt stmt(Stmt s) {
            if (s instanceof Stmt.Let let && let.var().name().equals("number")) {
              here = let.var();
            }
            return super.stmt(s);
          }

          @Override
          public Expr expr(Expr e) {
            return e instanceof Expr.Call call && call.op() == CounterIntrinsics.ATOMIC_ADD
                ? new Expr.Cast(Type.U32, here)
                : super.expr(e);
          }
        }.stmt(kernel.body());
    Kernel wrong =
        new Kernel(
            kernel.name(), kernel.kind(), kernel.params(), kernel.bindings(), body, kernel.attrs());
    GridOptions reversed = GridOptions.DEFAULT.withBlocks(Options.Order.REVERSE, 1);
    assertThat(findings(kernel, reversed)).isEmpty();
    assertThat(findings(wrong, reversed))
        .extracting(Finding::kind)
        .containsExactly(Finding.Kind.DEADLOCK);
  }

  private static List<Finding> findings(Kernel kernel, GridOptions options) {
    return new GridInterpreter(kernel, options)
        .check(KernelData.of(BoundKernel.of(kernel, Map.of()), SEED));
  }
}
