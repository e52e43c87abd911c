package dev.warpwright.families;

import dev.warpwright.tune.space.Decisions;
import dev.warpwright.tune.space.Sketch;

/** A sketch of a product, whose candidates can be had with their schedules. */
public interface GemmSketch extends Sketch {
  /**
   * Schedules and lowers.
   *
   * @throws dev.warpwright.tune.space.Rejected if what was decided does not fit together
   * @throws dev.warpwright.base.UserError if the schedule is refused
   */
  ScheduledGemm schedule(Decisions decisions);
}
