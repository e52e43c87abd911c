package dev.warpwright.perf.predict;

import static dev.warpwright.perf.UnitNumber.DRAWING;
import static dev.warpwright.perf.UnitNumber.L2_BYTES_PER_CLOCK;
import static dev.warpwright.perf.UnitNumber.OVERLAP;
import static dev.warpwright.perf.UnitNumber.REACHED;

import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.UnitNumber;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.target.DeviceModel;

/**
 * What a product with these tiles in this order is predicted to cost on a device.
 *
 * @param tiles of the result
 * @param waves rounds of one tile on each SM, or cluster of them; tiles that share one share its
 *     rate, so they count as rounds one after the other; the last one may be short
 * @param tail the part of these waves that goes into no result: the last one is short, tiles reach
 *     past the edge; 0 to 1
 * @param l2Bytes that SMs read from L2
 * @param missedBytes of these, that they do not find in their half of the cache
 * @param dramReadBytes that device memory delivers
 * @param dramWriteBytes the result
 * @param computeUs for the products alone
 * @param memoryUs for device memory alone
 * @param l2Us for L2 alone
 * @param timeUs predicted for all three together
 */
public record GemmPrediction(
    GemmShape shape,
    Tiling tiling,
    BlockOrder order,
    DeviceModel device,
    long tiles,
    long waves,
    double tail,
    double l2Bytes,
    double missedBytes,
    double dramReadBytes,
    double dramWriteBytes,
    double computeUs,
    double memoryUs,
    double l2Us,
    double timeUs) {
  /** More tiles than this are not played through. */
  private static final long MOST_TILES = 1 << 17;

  /** Predicts. */
  public static GemmPrediction of(
      GemmShape shape, Tiling tiling, BlockOrder order, DeviceModel device) {
    long rows = Math.ceilDiv(shape.m(), tiling.m());
    long columns = Math.ceilDiv(shape.n(), tiling.n());
    long tiles = Math.multiplyExact(rows, columns);
    int atOnce = tiling.atOnce(device);
    double useful = shape.m() * (double) shape.n() / (tiling.m() * (double) tiling.n());
    int slots = Math.max(1, device.sms() / tiling.sms());
    long waves = Math.ceilDiv(tiles, slots);
    double busy = useful / (waves * (double) slots);
    var units = UnitNumber.of(device);
    double compute = shape.flops() / (shape.type().peak(device) * units.at(REACHED)) / busy * 1e6;
    double l2 =
        shape.type().operand().bytes()
            * (double) shape.k()
            * (columns * (double) shape.m() + rows * (double) shape.n());
    double read;
    double missed;
    if (tiles > MOST_TILES || Math.max(rows, columns) > MOST_TILES) {
      read = waveReads(shape, tiling, atOnce, Math.ceilDiv(tiles, atOnce));
      missed = read;
    } else {
      var model = new L2Model(shape, tiling, device);
      read = model.readBytes(order);
      missed = model.missedBytes();
    }
    double write = shape.resultBytes();
    double drawing = Math.min(1, tiles / (units.at(DRAWING) * slots));
    double memory = (read + write) / (device.dramGBs() * 1e9 * units.at(REACHED) * drawing) * 1e6;
    double l2Rate = units.at(L2_BYTES_PER_CLOCK) * device.sms() * device.boostMhz() * 1e6;
    double l2Time = l2 / (l2Rate * drawing) * 1e6;
    double time =
        Math.pow(
            Math.pow(compute, units.at(OVERLAP))
                + Math.pow(memory, units.at(OVERLAP))
                + Math.pow(l2Time, units.at(OVERLAP)),
            1 / units.at(OVERLAP));
    return new GemmPrediction(
        shape, tiling, order, device, tiles, waves, 1 - busy, l2, missed, read, write, compute,
        memory, l2Time, time);
  }

  /** Without playing: square waves that share operands among their own tiles only. */
  private static double waveReads(GemmShape shape, Tiling tiling, int atOnce, long waves) {
    double side = Math.sqrt(atOnce * (double) tiling.m() * tiling.n());
    return Math.max(
        shape.operandBytes(), waves * 2 * side * shape.k() * shape.type().operand().bytes());
  }

  /** Device memory, both ways. */
  public double dramBytes() {
    return dramReadBytes + dramWriteBytes;
  }

  /** The part of the SMs' reads that L2 serves. */
  public double hitRate() {
    return Math.clamp(1 - missedBytes / l2Bytes, 0, 1);
  }
}
