package dev.warpwright.compiler.orders;

import dev.warpwright.cost.analyze.Part.GemmShape;
import dev.warpwright.cost.analyze.Tiling;
import dev.warpwright.ir.BlockOrder;
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
   * @throws dev.warpwright.ir.UserError if the request is not possible
   * @throws dev.warpwright.ir.DeviceError if the device or a tool is missing or fails
   */
  List<OrderMeasurement> measure(Request request, Watcher watcher);
}
