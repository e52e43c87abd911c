package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.ffn.PersistentFusedGemms;
import dev.warpwright.families.ffn.PersistentFusedGemms.Sharing;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.simt.SimtConfig;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.CounterIntrinsics;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Two products in one grid: what goes wrong between its blocks is reported. */
class FusedGridMutationTest {
  private static final long SEED = 3;
  static final Sharing SHARING = new Sharing(WorkOrder.SEQUENCE, WaitPolicy.ROW, 3);
  static final Sharing BY_TILES = new Sharing(WorkOrder.SEQUENCE, WaitPolicy.TILE, 3);

  private static final Kernel IN_PARTS =
      mmaSync(new Sharing(WorkOrder.SEQUENCE, WaitPolicy.ROW, 3, 2));

  private static final List<Kernel> KERNELS =
      List.of(
          mmaSync(SHARING),
          mmaSync(BY_TILES),
          mmaSync(new Sharing(WorkOrder.SEQUENCE, WaitPolicy.rows(2), 3), 140),
          warpgroups(SHARING),
          warpgroups(BY_TILES),
          threads(),
          IN_PARTS,
          mmaSync(new Sharing(WorkOrder.SEQUENCE, WaitPolicy.TILE, 3, 2)));

  static Kernel mmaSync(Sharing sharing) {
    return mmaSync(sharing, 70);
  }

  private static Kernel mmaSync(Sharing sharing, int rows) {
    return PersistentFusedGemms.schedule(
            new FfnWorkload(rows, 40, 72, 70, DType.F16),
            new AmpereConfig(64, 64, 32, 2, 2, 2, 1, new BlockOrder.Row(), false),
            sharing,
            GpuTarget.SM_80)
        .kernel();
  }

  static Kernel warpgroups(Sharing sharing) {
    return PersistentFusedGemms.schedule(
            new FfnWorkload(70, 40, 72, 72, DType.F16),
            HopperConfig.pairs(64, 64, 2, 1, 2).withCluster(1, 1),
            sharing)
        .kernel();
  }

  static Kernel threads() {
    return PersistentFusedGemms.schedule(
            new FfnWorkload(40, 16, 70, 68, DType.F32),
            new SimtConfig(32, 64, 8, 32, 32, 4, 1, 2, true, true, false, 1),
            SHARING,
            GpuTarget.SM_80)
        .kernel();
  }

  /** Tiles of the second product first: all blocks wait for what none of them has begun. */
  @Test
  void theReverseOrderIsADeadlock() {
    for (Kernel kernel : KERNELS) {
      for (int resident : List.of(1, 2, 132)) {
        GridOptions options = GridOptions.DEFAULT.withBlocks(Options.Order.REVERSE, resident);
        Arguments arguments = arguments(kernel);
        assertThat(new GridInterpreter(kernel, options).check(arguments)).isEmpty();
        Arguments reversed = arguments(kernel);
        NdArray order = reversed.get("order");
        int tiles = (int) order.size();
        List<Integer> table = List.copyOf(dev.warpwright.ir.order.FusedOrder.table(kernel.attrs()));
        for (int i = 0; i < tiles; i++) {
          order.setIntegerElement(i, table.get(tiles - 1 - i));
        }
        assertThat(new GridInterpreter(kernel, options).check(reversed))
            .extracting(Finding::kind)
            .containsOnly(Finding.Kind.DEADLOCK);
      }
    }
  }

  /** Whoever waits for the first row reads other rows too early. */
  @Test
  void waitingForAnotherRowIsARace() {
    for (Kernel kernel : KERNELS) {
      Kernel wrong =
          with(
              kernel,
              new Rewriter() {
                @Override
                public Expr expr(Expr e) {
                  return e instanceof Expr.Call call
                          && call.op() == CounterIntrinsics.LOAD_ACQUIRE
                          && call.args().getFirst() instanceof Expr.AddressOf address
                          && address.buffer().name().equals("counters")
                      ? new Expr.Call(
                          call.op(),
                          List.of(new Expr.AddressOf(address.buffer(), List.of(Exprs.i32(2)))),
                          call.type())
                      : super.expr(e);
                }
              });
      Set<Finding.Kind> kinds = new HashSet<>();
      for (GridOptions options : CheckOptions.of(SEED).withSchedules(3).orders()) {
        new GridInterpreter(wrong, options)
            .check(arguments(kernel))
            .forEach(finding -> kinds.add(finding.kind()));
      }
      assertThat(kinds)
          .isNotEmpty()
          .isSubsetOf(Finding.Kind.RACE, Finding.Kind.UNINITIALISED, Finding.Kind.PROXY);
    }
  }

  /** Whoever adds up the parts of a tile takes sums for those of the others that are not there. */
  @Test
  void addingUpPartsUnwaitedIsARace() {
    Kernel wrong =
        with(
            IN_PARTS,
            new Rewriter() {
              @Override
              public Stmt stmt(Stmt s) {
                return s instanceof Stmt.While(Expr condition, Stmt _) && awaitsParts(condition)
                    ? Stmt.Seq.EMPTY
                    : super.stmt(s);
              }
            });
    assertThat(wrong.body()).isNotEqualTo(IN_PARTS.body());
    Set<Finding.Kind> kinds = new HashSet<>();
    for (GridOptions options : CheckOptions.of(SEED).withSchedules(6).orders()) {
      new GridInterpreter(wrong, options)
          .check(arguments(IN_PARTS))
          .forEach(finding -> kinds.add(finding.kind()));
    }
    assertThat(kinds)
        .isNotEmpty()
        .isSubsetOf(Finding.Kind.RACE, Finding.Kind.UNINITIALISED, Finding.Kind.PROXY);
  }

  private static boolean awaitsParts(Expr condition) {
    boolean[] found = {false};
    Walk.expressions(
        condition,
        e ->
            found[0] |=
                e instanceof Expr.AddressOf address
                    && address.buffer().name().equals("partCounters"));
    return found[0];
  }

  private static Kernel with(Kernel kernel, Rewriter rewriter) {
    return kernel.withBody(rewriter.stmt(kernel.body()));
  }

  private static Arguments arguments(Kernel kernel) {
    return KernelData.of(BoundKernel.of(kernel, Map.of()), SEED);
  }
}
