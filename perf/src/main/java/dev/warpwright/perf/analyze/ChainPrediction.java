package dev.warpwright.perf.analyze;

import static dev.warpwright.perf.UnitNumber.L2_BYTES_PER_CLOCK;
import static dev.warpwright.perf.UnitNumber.OVERLAP;
import static dev.warpwright.perf.UnitNumber.REACHED;

import dev.warpwright.perf.UnitNumber;
import dev.warpwright.perf.analyze.Part.GemmShape;
import dev.warpwright.perf.order.CachePolicy;
import dev.warpwright.perf.order.OrderSimulation;
import dev.warpwright.perf.order.TileOrders;
import dev.warpwright.perf.order.TileProblem;
import dev.warpwright.perf.order.WorkItem;
import dev.warpwright.target.DeviceModel;
import java.util.List;

/**
 * What two chained products in one grid are predicted to cost in an order of the tiles of both: all
 * that run at a time read in step, through the part of the second-level cache that {@link L2Model}
 * found to count.
 *
 * @param dramReadBytes that device memory delivers
 * @param dramWriteBytes that go there
 * @param l2Bytes that SMs read from L2
 * @param timeUs predicted, of products, memory and cache together
 */
public record ChainPrediction(
    double dramReadBytes, double dramWriteBytes, double l2Bytes, double timeUs) {
  /** Elements along K of one access. */
  private static final long CHUNK = 256;

  /**
   * Predicts.
   *
   * @param first C = A · B; the second one reads C
   * @param last columns of E = C · D
   * @param order of the tiles of both
   */
  public static ChainPrediction of(
      GemmShape first, long last, Tiling tiling, List<WorkItem> order, DeviceModel device) {
    TileProblem problem = problem(first, last, tiling, device);
    // What waits for its own step comes a little later, but for the last steps, where nothing else
    // is left.
    OrderSimulation run =
        OrderSimulation.runWaiting(problem, TileOrders.settled(problem, order), CachePolicy.LRU);
    var second = new GemmShape(first.m(), last, first.n(), first.type());
    double l2 = asked(first, tiling) + asked(second, tiling);
    int slots = Math.max(1, device.sms() / tiling.sms());
    double useful = first.m() * (double) (first.n() + last) / (tiling.m() * (double) tiling.n());
    double busy = useful / (Math.ceilDiv(problem.items(), slots) * (double) slots);
    var units = UnitNumber.of(device);
    double compute =
        (first.flops() + second.flops()) / (first.type().peak(device) * units.at(REACHED)) / busy;
    double memory = run.movedSize() / (device.dramGBs() * 1e9 * units.at(REACHED));
    double cache = l2 / (units.at(L2_BYTES_PER_CLOCK) * device.sms() * device.boostMhz() * 1e6);
    double time =
        Math.pow(
            Math.pow(compute, units.at(OVERLAP))
                + Math.pow(memory, units.at(OVERLAP))
                + Math.pow(cache, units.at(OVERLAP)),
            1 / units.at(OVERLAP));
    return new ChainPrediction(run.loadedSize(), run.storedSize(), l2, time * 1e6);
  }

  /** The tiles and the cache of a device, in bytes. */
  public static TileProblem problem(GemmShape first, long last, Tiling tiling, DeviceModel device) {
    int bytes = first.type().operand().bytes();
    long height = Math.min(tiling.m(), first.m());
    long width = Math.min(tiling.n(), first.n());
    long across = Math.min(tiling.n(), last);
    return new TileProblem(
        (int) Math.ceilDiv(first.m(), tiling.m()),
        (int) Math.ceilDiv(first.n(), tiling.n()),
        (int) Math.ceilDiv(first.k(), CHUNK),
        (int) Math.ceilDiv(last, tiling.n()),
        true,
        new TileProblem.Sizes(
            height * CHUNK * bytes,
            CHUNK * width * bytes,
            height * width * bytes,
            width * across * bytes,
            height * across * bytes),
        L2Model.capacity(device),
        tiling.atOnce(device));
  }

  private static double asked(GemmShape shape, Tiling tiling) {
    return shape.type().operand().bytes()
        * (double) shape.k()
        * (Math.ceilDiv(shape.n(), tiling.n()) * (double) shape.m()
            + Math.ceilDiv(shape.m(), tiling.m()) * (double) shape.n());
  }

  /** The part of the SMs' reads that the cache serves. */
  public double hitRate() {
    return Math.clamp(1 - dramReadBytes / l2Bytes, 0, 1);
  }
}
