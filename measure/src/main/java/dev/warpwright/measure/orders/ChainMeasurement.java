package dev.warpwright.measure.orders;

import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.measure.orders.OrderMeasurement.Counters;
import dev.warpwright.measure.orders.OrderMeasurement.Times;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.workload.FfnWorkload;
import org.jspecify.annotations.Nullable;

/**
 * What two chained products in one grid cost, in an order of the tiles of both.
 *
 * @param order its name
 * @param waits for what a tile of the second product waits
 * @param device what computed it
 * @param times null where there is no time to keep, or the result is wrong
 * @param relError ‖out − reference‖ / ‖reference‖, the worst of all launches
 * @param failure one line that says why there are no figures; null if all is well
 * @param counters null where none were counted
 * @param timeline null where it could not be recorded
 */
public record ChainMeasurement(
    FfnWorkload workload,
    Tiling tiling,
    String order,
    WaitPolicy waits,
    String device,
    @Nullable Times times,
    double relError,
    @Nullable String failure,
    @Nullable Counters counters,
    @Nullable Timeline timeline) {
  /** The same with counters. */
  public ChainMeasurement with(@Nullable Counters counted) {
    return new ChainMeasurement(
        workload, tiling, order, waits, device, times, relError, failure, counted, timeline);
  }

  /** Whether the result is right. */
  public boolean verified() {
    return failure == null;
  }
}
