package dev.warpwright.perf.analyze;

import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.analyze.Part.GemmShape;
import dev.warpwright.target.DeviceModel;

/**
 * What a product with these tiles in this order is predicted to cost on a device.
 *
 * @param tiles of the result
 * @param waves rounds of one tile on each multiprocessor, or cluster of them; tiles that share one
 *     share its rate, so they count as rounds one after the other; the last one may be short
 * @param tail the part of these waves that goes into no result: the last one is short, tiles reach
 *     past the edge; 0 to 1
 * @param l2Bytes that multiprocessors read from the second-level cache
 * @param dramReadBytes that device memory delivers
 * @param dramWriteBytes the result
 * @param computeUs for the products alone
 * @param memoryUs for device memory alone
 * @param l2Us for the second-level cache alone
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
    double dramReadBytes,
    double dramWriteBytes,
    double computeUs,
    double memoryUs,
    double l2Us,
    double timeUs) {
  /** More tiles than this are not played through. */
  private static final long MOST_TILES = 1 << 17;

  /** What bandwidth and rate kernels reach of what data sheets say. */
  static final double REACHED = 0.88;

  /** The part of the multiprocessors that it takes to draw all of the bandwidth. */
  private static final double DRAWING = 0.6;

  /** What a multiprocessor gets out of the second-level cache in a clock, sustained. */
  static final double L2_BYTES_PER_CLOCK = 32;

  /** How sharply the larger of two overlapping times decides: a norm's exponent. */
  static final double OVERLAP = 3;

  /** Predicts. */
  public static GemmPrediction of(
      GemmShape shape, Tiling tiling, BlockOrder order, DeviceModel device) {
    long rows = Math.ceilDiv(shape.m(), tiling.m());
    long columns = Math.ceilDiv(shape.n(), tiling.n());
    long tiles = Math.multiplyExact(rows, columns);
    int atOnce = tiling.atOnce(device);
    double useful = shape.m() * (double) shape.n() / (tiling.m() * (double) tiling.n());
    int units = Math.max(1, device.multiprocessors() / tiling.multiprocessors());
    long waves = Math.ceilDiv(tiles, units);
    double busy = useful / (waves * (double) units);
    double compute = shape.flops() / (shape.type().peak(device) * REACHED) / busy * 1e6;
    double l2 =
        shape.type().operand().bytes()
            * (double) shape.k()
            * (columns * (double) shape.m() + rows * (double) shape.n());
    double read =
        tiles > MOST_TILES || Math.max(rows, columns) > MOST_TILES
            ? waveReads(shape, tiling, atOnce, Math.ceilDiv(tiles, atOnce))
            : new L2Model(shape, tiling, device).readBytes(order);
    double write = shape.resultBytes();
    double drawing = Math.min(1, tiles / (DRAWING * units));
    double memory = (read + write) / (device.dramGBs() * 1e9 * REACHED * drawing) * 1e6;
    double l2Rate = L2_BYTES_PER_CLOCK * device.multiprocessors() * device.boostMhz() * 1e6;
    double l2Time = l2 / (l2Rate * drawing) * 1e6;
    double time =
        Math.pow(
            Math.pow(compute, OVERLAP) + Math.pow(memory, OVERLAP) + Math.pow(l2Time, OVERLAP),
            1 / OVERLAP);
    return new GemmPrediction(
        shape, tiling, order, device, tiles, waves, 1 - busy, l2, read, write, compute, memory,
        l2Time, time);
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

  /** The part of the multiprocessors' reads that the second-level cache serves. */
  public double hitRate() {
    return Math.clamp(1 - dramReadBytes / l2Bytes, 0, 1);
  }
}
