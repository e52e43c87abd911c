package dev.warpwright.measure.orders;

import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import java.util.List;

/** Measures products with tiles in orders. */
public interface OrderMeasurer {
  /**
   * What to measure: each order with each size of tiles.
   *
   * @param counterSeconds that Nsight Compute may take to count, where it is installed; 0 for no
   *     counters
   * @param seed of the random data
   */
  record Request(
      GemmShape shape,
      List<Tiling> tilings,
      List<BlockOrder> orders,
      double counterSeconds,
      long seed) {
    public Request {
      tilings = List.copyOf(tilings);
      orders = List.copyOf(orders);
    }
  }

  /** Watches, and may end it. */
  interface Watcher {
    /** Whether to stop after what is being measured now. */
    boolean cancelled();

    /** One line of what is going on. */
    void say(String line);
  }

  /**
   * Measures.
   *
   * @return in the order tile after tile, order after order; fewer if it was cancelled
   * @throws dev.warpwright.base.UserError if the request is not possible
   * @throws dev.warpwright.base.DeviceError if the device or a tool is missing or fails
   */
  List<OrderMeasurement> measure(Request request, Watcher watcher);
}
