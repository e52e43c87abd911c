package dev.warpwright.perf.grid;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.TileTimes;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereModel;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperModel;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.type.DType;
import dev.warpwright.perf.analyze.MeasuredOrders;
import dev.warpwright.perf.analyze.Part.GemmShape;
import dev.warpwright.perf.analyze.Tiling;
import dev.warpwright.perf.order.TileOrders;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Single GEMMs, played in time, beside the counters of an H200. */
class MeasuredGridsTest {
  private static final DeviceModel DEVICE = MeasuredOrders.device();

  @Test
  void hitsAreWithinTheErrorThatIsAllowed() {
    double sum = 0;
    List<MeasuredOrders.Row> rows = MeasuredOrders.all();
    for (MeasuredOrders.Row row : rows) {
      GridRun run = grid(row).run();
      double error = Math.abs(run.hitRate() - row.hitRate());
      assertThat(error).as(row.toString()).isLessThan(0.08);
      sum += error;
      double ratio = run.timeUs() / row.timeUs();
      // The model of wgmma is fitted to clocks under load, these are single launches.
      assertThat(ratio).as(row.toString()).isBetween(0.93, row.tiling().sms() > 1 ? 1.20 : 1.06);
    }
    assertThat(sum / rows.size()).isLessThan(0.02);
  }

  private static PersistentGrid grid(MeasuredOrders.Row row) {
    Tiling tiling = row.tiling();
    GemmShape shape = row.shape();
    boolean pairs = tiling.sms() > 1;
    GemmWorkload gemm = GemmWorkload.nt(shape.m(), shape.n(), shape.k(), DType.BF16);
    TileTimes times =
        pairs
            ? new HopperModel(Calibration.of(DEVICE))
                .tile(gemm, HopperConfig.pairs(128, 256, 4, 2, DEVICE.sms()), DEVICE.sms())
            : new AmpereModel(Calibration.of(DEVICE))
                .tile(
                    gemm,
                    new AmpereConfig(128, 128, 64, 3, 2, 2, 2, row.order(), false),
                    GridNumber.of(DEVICE).at(GridNumber.COPYING));
    var problem = PersistentGrid.problem(shape, 0, tiling, DEVICE);
    return new PersistentGrid(
        problem,
        TileOrders.of(problem, row.order()),
        WaitPolicy.ROW,
        pairs ? Dealing.STRIDE : Dealing.DRAWN,
        DEVICE,
        DEVICE.sms() / tiling.sms(),
        new PersistentGrid.Steps(shape.k() / 64, 0),
        times);
  }
}
