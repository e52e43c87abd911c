package dev.warpwright.verify;

import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Options;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * How kernels are checked.
 *
 * @param seed of the random data and of the random orders
 * @param schedules in how many orders of blocks and warps each kernel runs, at least 1: the first
 *     in order, the second backwards, the others at random
 * @param resident blocks that run at the same time, as on a GPU with so many SMs; empty for 1 in
 *     the first order and 3 in the others
 * @param scalars values of scalar parameters by name; of what is not named, small ones
 * @param rows the first scalar of a kernel that no name gives, and the rows of a model
 * @param target whose limits must suffice where a subject does not name a newer one
 */
public record CheckOptions(
    long seed,
    int schedules,
    OptionalInt resident,
    Map<String, Long> scalars,
    OptionalInt rows,
    GpuTarget target) {
  private static final int USUAL_SCHEDULES = 3;
  private static final int USUAL_RESIDENT = 3;

  public CheckOptions {
    if (schedules < 1 || (resident.isPresent() && resident.getAsInt() < 1)) {
      throw new IllegalArgumentException("schedules and resident blocks must be at least 1");
    }
    scalars = Map.copyOf(scalars);
  }

  /** On the newest target. */
  public CheckOptions(
      long seed, int schedules, OptionalInt resident, Map<String, Long> scalars, OptionalInt rows) {
    this(seed, schedules, resident, scalars, rows, GpuTarget.SM_90A);
  }

  /** Three orders, small shapes. */
  public static CheckOptions of(long seed) {
    return new CheckOptions(
        seed, USUAL_SCHEDULES, OptionalInt.empty(), Map.of(), OptionalInt.empty());
  }

  public CheckOptions withScalars(Map<String, Long> newScalars) {
    return new CheckOptions(seed, schedules, resident, newScalars, rows, target);
  }

  public CheckOptions withSchedules(int count) {
    return new CheckOptions(seed, count, resident, scalars, rows, target);
  }

  /** Whether nobody asked for fewer orders, or for so many blocks at a time. */
  boolean isUsual() {
    return schedules >= USUAL_SCHEDULES && resident.isEmpty();
  }

  /** The orders in which a kernel runs. */
  public List<GridOptions> orders() {
    List<GridOptions> orders = new ArrayList<>();
    for (int i = 0; i < schedules; i++) {
      GridOptions order =
          switch (i) {
            case 0 -> GridOptions.DEFAULT;
            case 1 ->
                GridOptions.DEFAULT
                    .withWarps(GridOptions.WarpChoice.LAST)
                    .withBlocks(Options.Order.REVERSE, USUAL_RESIDENT);
            default -> GridOptions.random(seed + i);
          };
      orders.add(
          (resident.isPresent() ? order.withBlocks(order.blocks(), resident.getAsInt()) : order)
              .withTarget(target));
    }
    return orders;
  }
}
