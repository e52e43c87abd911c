package dev.warpwright.measure.orders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.perf.analyze.Gpus;
import dev.warpwright.perf.grid.Dealing;
import dev.warpwright.perf.grid.GridRun;
import dev.warpwright.perf.grid.PersistentGrid;
import dev.warpwright.perf.order.TileOrders;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What two chained GEMMs in one kernel took on an H200 (docs/benchmarks), beside the prediction,
 * which is fitted to single GEMMs only. The kernels drew their tiles ahead then.
 */
class MeasuredChainsTest {
  private static final DeviceModel H200 = Gpus.find("h200");
  private static final FfnWorkload CHAIN = new FfnWorkload(4096, 2048, 8192, 2048, DType.BF16);

  private static GridRun run(String order) {
    Tiling tiling = Tiling.of(128, 128);
    var first = new GemmShape(CHAIN.m(), CHAIN.hidden(), CHAIN.k(), CHAIN.precision());
    var problem = PersistentGrid.problem(first, CHAIN.n(), tiling, H200);
    return ChainKernels.grid(CHAIN, tiling, TileOrders.of(problem, order), WaitPolicy.ROW, H200)
        .with(Dealing.DRAWN_AHEAD)
        .run();
  }

  /** 2026-11-25: in a graph, and the part of the SMs' time without an item. */
  @Test
  void threeOrdersByMmaSync() {
    GridRun row = run("row");
    GridRun mixed = run("mixed:8");
    GridRun rows = run("rows:4");
    assertThat(row.timeUs() / 663.5).isBetween(0.9, 1.1);
    assertThat(mixed.timeUs() / 826.4).isBetween(0.9, 1.1);
    assertThat(rows.timeUs() / 1480).isBetween(0.9, 1.1);
    assertThat(row.idle()).isBetween(0.03, 0.05);
    assertThat(mixed.idle()).isBetween(0.08, 0.14);
    assertThat(rows.idle()).isBetween(0.08, 0.18);
    assertThat(rows.waiting()).isGreaterThan(mixed.waiting());
    assertThat(row.waiting()).isLessThan(0.01);
  }

  /** 2026-11-23, bursts: 181.9 and 200.1 µs. The model of wgmma is fitted to load without end. */
  @Test
  void aBlockByWgmma() {
    var block = new FfnWorkload(256, 4096, 14336, 4096, DType.BF16);
    double sequence = wgmma(block, WorkOrder.SEQUENCE);
    double rows = wgmma(block, WorkOrder.ROWS);
    assertThat(sequence / 181.9).isBetween(1.0, 1.25);
    assertThat(rows / 200.1).isBetween(1.0, 1.25);
    assertThat(rows).isGreaterThan(sequence);
  }

  private static double wgmma(FfnWorkload block, WorkOrder order) {
    return ChainKernels.grid(block, order, WaitPolicy.ROW, H200)
        .orElseThrow()
        .with(Dealing.DRAWN_AHEAD)
        .run()
        .timeUs();
  }

  @Test
  void aPlanSaysWhatOneKernelWouldTake() {
    var block = new FfnWorkload(256, 4096, 14336, 4096, DType.BF16);
    List<OneKernel> kernels =
        OneKernel.of(List.of(block.first(), block.second()), WaitPolicy.ROW, H200);
    assertThat(kernels).extracting(OneKernel::order).containsExactly(WorkOrder.values());
    assertThat(kernels.getFirst().text(100))
        .startsWith("one kernel, order=sequence wait=row: 1 launch, ")
        .contains("times as long as apart");
    var tall = new FfnWorkload(2048, 4096, 14336, 4096, DType.BF16);
    List<OneKernel> grid =
        OneKernel.of(List.of(tall.first(), tall.second()), WaitPolicy.GRID, H200);
    assertThat(grid).hasSize(2);
    assertThat(grid.stream().map(one -> one.text(100)))
        .anySatisfy(
            text -> assertThat(text).contains("order=rows wait=grid").contains("deadlock: block"));
    assertThat(kernels.getFirst().text(1000)).contains("not chosen all the same");
    assertThat(
            OneKernel.of(List.of(block.first(), block.second()), WaitPolicy.ROW, Gpus.find("a100")))
        .isEmpty();
    GemmWorkload alone = GemmWorkload.nt(256, 4096, 4096, DType.BF16);
    assertThat(OneKernel.of(List.of(alone), WaitPolicy.ROW, H200)).isEmpty();
    assertThat(OneKernel.of(List.of(alone, alone), WaitPolicy.ROW, H200)).isEmpty();
  }
}
