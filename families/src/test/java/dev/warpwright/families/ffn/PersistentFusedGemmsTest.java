package dev.warpwright.families.ffn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.Simulated;
import dev.warpwright.families.StagedGemm;
import dev.warpwright.families.ffn.PersistentFusedGemms.Sharing;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.simt.SimtConfig;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.Verification;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.tensor.PrimFuncs;
import dev.warpwright.workload.tensor.Tensor;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/** Two products in one grid: right, with the same bits, whichever block is when. */
class PersistentFusedGemmsTest {
  private static final AmpereConfig MMA =
      new AmpereConfig(64, 64, 32, 3, 2, 2, 1, new BlockOrder.Grouped(2), false);
  private static final WaitPolicy PAIRS = WaitPolicy.rows(2);
  private static final SimtConfig SIMT =
      new SimtConfig(64, 64, 8, 32, 32, 4, 1, 2, false, false, false, 1);

  static Stream<ArgumentSet> mmaSync() {
    return Stream.of(
        set(new FfnWorkload(100, 72, 136, 72, DType.F16), WorkOrder.SEQUENCE, WaitPolicy.ROW, 1),
        set(new FfnWorkload(130, 64, 128, 72, DType.BF16), WorkOrder.ROWS, WaitPolicy.ROW, 2),
        set(new FfnWorkload(200, 40, 72, 200, DType.BF16), WorkOrder.SEQUENCE, WaitPolicy.GRID, 5),
        set(new FfnWorkload(60, 35, 70, 67, DType.F16), WorkOrder.ROWS, WaitPolicy.ROW, 24),
        set(new FfnWorkload(1, 8, 300, 17, DType.BF16), WorkOrder.SEQUENCE, WaitPolicy.ROW, 24),
        set(new FfnWorkload(300, 40, 200, 72, DType.BF16), WorkOrder.SEQUENCE, PAIRS, 7),
        set(new FfnWorkload(130, 40, 200, 136, DType.F16), WorkOrder.SEQUENCE, WaitPolicy.TILE, 3),
        set(new FfnWorkload(130, 35, 70, 67, DType.BF16), WorkOrder.ROWS, WaitPolicy.TILE, 24));
  }

  /** Parts of one column of tiles and of several, as many and not; more blocks than tiles. */
  static Stream<ArgumentSet> partialSums() {
    FfnWorkload four = new FfnWorkload(130, 40, 200, 136, DType.F16);
    FfnWorkload five = new FfnWorkload(100, 35, 290, 67, DType.BF16);
    return Stream.of(
        set(four, new Sharing(WorkOrder.ROWS, WaitPolicy.ROW, 3, 2)),
        set(four, new Sharing(WorkOrder.ROWS, WaitPolicy.TILE, 24, 4)),
        set(four, new Sharing(WorkOrder.SEQUENCE, WaitPolicy.GRID, 5, 3)),
        set(four, new Sharing(WorkOrder.SEQUENCE, PAIRS, 4, 2)),
        set(five, new Sharing(WorkOrder.ROWS, WaitPolicy.TILE, 1, 3)),
        set(five, new Sharing(WorkOrder.SEQUENCE, WaitPolicy.ROW, 7, 4)));
  }

  @ParameterizedTest
  @MethodSource
  void partialSums(FfnWorkload workload, Sharing sharing) {
    ScheduledGemm gemm = PersistentFusedGemms.schedule(workload, MMA, sharing, GpuTarget.SM_80);
    int rows = Math.ceilDiv((int) workload.m(), 64);
    int columns = Math.ceilDiv((int) workload.n(), 64);
    assertThat(gemm.table())
        .hasSize(rows * (Math.ceilDiv((int) workload.hidden(), 64) + columns * sharing.parts()));
    Simulated.assertComputes(gemm, "Y", 4e-3);
  }

  /** A step more than stages, and a part of one; two tiles each way, with tails. */
  static Stream<ArgumentSet> threads() {
    return Stream.of(
        set(new FfnWorkload(100, 24, 72, 72, DType.F32), WorkOrder.SEQUENCE, WaitPolicy.ROW, 1),
        set(new FfnWorkload(130, 17, 70, 67, DType.F32), WorkOrder.ROWS, WaitPolicy.ROW, 5),
        set(new FfnWorkload(64, 16, 128, 64, DType.F32), WorkOrder.SEQUENCE, WaitPolicy.GRID, 24));
  }

  private static ArgumentSet set(FfnWorkload w, WorkOrder order, WaitPolicy waits, int blocks) {
    return set(w, new Sharing(order, waits, blocks));
  }

  private static ArgumentSet set(FfnWorkload w, Sharing sharing) {
    return org.junit.jupiter.params.provider.Arguments.argumentSet(w + " " + sharing, w, sharing);
  }

  static Stream<ArgumentSet> warpgroups() {
    return Stream.of(
        set(new FfnWorkload(100, 72, 136, 72, DType.F16), WorkOrder.SEQUENCE, WaitPolicy.ROW, 1),
        set(new FfnWorkload(130, 64, 128, 72, DType.BF16), WorkOrder.ROWS, WaitPolicy.ROW, 2),
        set(new FfnWorkload(200, 40, 72, 136, DType.BF16), WorkOrder.SEQUENCE, WaitPolicy.GRID, 5),
        set(new FfnWorkload(1, 8, 200, 24, DType.BF16), WorkOrder.SEQUENCE, WaitPolicy.ROW, 24),
        set(new FfnWorkload(300, 40, 136, 72, DType.BF16), WorkOrder.SEQUENCE, PAIRS, 7),
        set(new FfnWorkload(200, 72, 200, 72, DType.F16), WorkOrder.ROWS, WaitPolicy.TILE, 4));
  }

  @ParameterizedTest
  @MethodSource
  void warpgroups(FfnWorkload workload, Sharing sharing) {
    for (HopperConfig config :
        List.of(
            HopperConfig.pairs(64, 64, 3, 1, 2).withCluster(1, 1),
            HopperConfig.pairs(128, 64, 2, 2, 2).withCluster(1, 1))) {
      Simulated.assertSame(PersistentFusedGemms.schedule(workload, config, sharing), "Y");
    }
  }

  @ParameterizedTest
  @MethodSource
  void mmaSync(FfnWorkload workload, Sharing sharing) {
    Simulated.assertSame(
        PersistentFusedGemms.schedule(workload, MMA, sharing, GpuTarget.SM_80), "Y");
  }

  @ParameterizedTest
  @MethodSource
  void threads(FfnWorkload workload, Sharing sharing) {
    ScheduledGemm gemm = PersistentFusedGemms.schedule(workload, SIMT, sharing, GpuTarget.SM_80);
    Simulated.assertComputes(gemm, "Y", 1e-6);
  }

  /** Where nothing is handed on, nothing waits. */
  @Test
  void independentProducts() {
    Tensor a = Tensor.input("A", DType.F16, Exprs.i32(100), Exprs.i32(40));
    Tensor b = Tensor.input("B", DType.F16, Exprs.i32(72), Exprs.i32(40));
    Tensor d = Tensor.input("D", DType.F16, Exprs.i32(130), Exprs.i32(72));
    Tensor e = Tensor.input("E", DType.F16, Exprs.i32(70), Exprs.i32(72));
    Tensor sums1 = FfnWorkload.sums("sums1", a, b, 100, 72, 40);
    Tensor sums2 = FfnWorkload.sums("sums2", d, e, 130, 70, 72);
    Tensor c = copied("C", sums1, 100, 72);
    Tensor f = copied("F", sums2, 130, 70);
    PrimFunc func =
        PrimFuncs.of(
            "two",
            List.of(a.buffer(), b.buffer(), c.buffer(), d.buffer(), e.buffer(), f.buffer()),
            List.of(sums1, c, sums2, f));
    ScheduledGemm gemm =
        PersistentFusedGemms.schedule(
            new Schedule(func),
            func,
            new StagedGemm.Names("A", "B", "sums1", "C"),
            new StagedGemm.Names("D", "E", "sums2", "F"),
            GemmWorkload.nt(130, 70, 72, DType.F16),
            MMA,
            new Sharing(WorkOrder.SEQUENCE, WaitPolicy.TILE, 3),
            GpuTarget.SM_80);
    Kernel kernel = gemm.kernel();
    assertThat(dev.warpwright.ir.text.IrPrinter.text(kernel)).doesNotContain("load.acquire");
    Arguments expected = Arguments.random(func.params(), 3);
    Interpreter.of(func, Options.CHECKED).run(expected);
    for (GridOptions options : List.of(GridOptions.DEFAULT, GridOptions.random(4))) {
      Arguments arguments = Simulated.arguments(gemm, 3);
      assertThat(new GridInterpreter(kernel, options).check(arguments)).isEmpty();
      for (String result : List.of("C", "F")) {
        Verification v = Verification.compare(arguments.get(result), expected.get(result));
        assertThat(v.within(4e-3)).as("%s: %s", result, v).isTrue();
      }
    }
  }

  private static Tensor copied(String name, Tensor sums, long rows, long columns) {
    return Tensor.compute(
        name,
        DType.F16,
        List.of(Exprs.i32(rows), Exprs.i32(columns)),
        v -> sums.at(v.get(0), v.get(1)));
  }

  @Test
  void refusals() {
    FfnWorkload workload = new FfnWorkload(100, 72, 136, 72, DType.F16);
    FfnWorkload single = new FfnWorkload(100, 24, 72, 72, DType.F32);
    Sharing tiles = new Sharing(WorkOrder.SEQUENCE, WaitPolicy.TILE, 3);
    assertThatThrownBy(() -> PersistentFusedGemms.schedule(single, SIMT, tiles, GpuTarget.SM_80))
        .isInstanceOf(LoweringException.class)
        .hasMessageContaining("wait for rows");
    Sharing batches = new Sharing(WorkOrder.ROWS, PAIRS, 3);
    assertThatThrownBy(() -> PersistentFusedGemms.schedule(workload, MMA, batches, GpuTarget.SM_80))
        .isInstanceOf(ScheduleError.class)
        .hasMessageContaining("behind its own");
    Sharing rows = new Sharing(WorkOrder.ROWS, WaitPolicy.ROW, 3);
    assertThatThrownBy(
            () ->
                PersistentFusedGemms.schedule(
                    workload,
                    MMA.withDivision(new dev.warpwright.ir.order.WorkDivision.Whole(), 4),
                    rows,
                    GpuTarget.SM_80))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("a block a tile");
    assertThatThrownBy(() -> PersistentFusedGemms.schedule(workload, SIMT, rows, GpuTarget.SM_80))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("f16");
    Sharing parts = new Sharing(WorkOrder.ROWS, WaitPolicy.ROW, 3, 4);
    assertThatThrownBy(() -> PersistentFusedGemms.schedule(workload, MMA, parts, GpuTarget.SM_80))
        .isInstanceOf(UserError.class)
        .hasMessage("4 parts of 3 columns of tiles: 1 at least, and a column each");
    assertThatThrownBy(() -> PersistentFusedGemms.schedule(single, SIMT, parts, GpuTarget.SM_80))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("not by threads");
    HopperConfig pairs = HopperConfig.pairs(64, 64, 3, 1, 2).withCluster(1, 1);
    assertThatThrownBy(() -> PersistentFusedGemms.schedule(workload, pairs, parts))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("not by wgmma");
    assertThatThrownBy(() -> new Sharing(WorkOrder.ROWS, WaitPolicy.ROW, 3, 256))
        .isInstanceOf(UserError.class)
        .hasMessage("256 parts of K; 1 to 255");
    assertThatThrownBy(() -> new Sharing(WorkOrder.ROWS, WaitPolicy.ROW, 0))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("0 blocks");
  }
}
