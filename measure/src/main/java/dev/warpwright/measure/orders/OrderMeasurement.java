package dev.warpwright.measure.orders;

import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import org.jspecify.annotations.Nullable;

/**
 * What a product with these tiles in this order cost.
 *
 * @param kernel how it was computed, as {@code wgmma} or {@code mma.sync}
 * @param device what computed it
 * @param on the day, as {@code 2026-11-20}
 * @param times null where there is no time to keep, or the result is wrong
 * @param relError ‖out − reference‖ / ‖reference‖ over the whole result, the worst of all launches
 * @param failure one line that says why there are no figures; null if all is well
 * @param counters null where none were counted
 * @param timeline null if the result is wrong
 */
public record OrderMeasurement(
    GemmShape shape,
    Tiling tiling,
    BlockOrder order,
    String kernel,
    String device,
    String on,
    @Nullable Times times,
    double relError,
    @Nullable String failure,
    @Nullable Counters counters,
    @Nullable Timeline timeline) {
  /**
   * How long a launch takes, back to back with others on other inputs.
   *
   * @param timeUs the median of the rounds
   * @param spread its standard error, as a part of it
   */
  public record Times(double timeUs, double spread) {}

  /**
   * Of Nsight Compute, for one launch with cold caches.
   *
   * @param l2Bytes that SMs asked L2 for
   * @param hitRate the part of them that it had
   */
  public record Counters(
      double timeUs, double dramReadBytes, double dramWriteBytes, double l2Bytes, double hitRate) {
    /** Device memory, both ways. */
    public double dramBytes() {
      return dramReadBytes + dramWriteBytes;
    }
  }

  /** The same with counters. */
  public OrderMeasurement with(@Nullable Counters counted) {
    return new OrderMeasurement(
        shape, tiling, order, kernel, device, on, times, relError, failure, counted, timeline);
  }

  /** Whether the result is right. */
  public boolean verified() {
    return failure == null;
  }
}
