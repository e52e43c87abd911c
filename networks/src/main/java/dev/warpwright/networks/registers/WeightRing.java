package dev.warpwright.networks.registers;

import java.util.Arrays;
import java.util.List;

/**
 * Clocks of warpgroups that carry rows through weights of which some flow by. A stage of the ring
 * is filled again when what it held has been multiplied by, and all stages by one copy engine, in
 * their order; a warpgroup waits where its weights have not come. So what is waited for is a matter
 * of which stages are large and what is computed meanwhile: where few rows are carried, and in
 * rings of two stages, a mean of them says little.
 */
final class WeightRing {
  /**
   * A part of what is done with a tile of rows, a stage's product or what stands behind products.
   *
   * @param copied clocks of the copy engine for the weights that it reads; 0 if these stay
   * @param clocks of a warpgroup that is alone
   * @param code instructions
   */
  record Step(double copied, double clocks, double code) {}

  private final List<Step> steps;

  /** From when on each stage may be filled. */
  private final double[] free;

  private final double refill;
  private double engine;
  private double clock;
  private int next;

  /**
   * At a launch's begin.
   *
   * @param steps of a tile
   * @param refill clocks from a copy's begin to the first of its bytes
   * @param stayed when weights that stay have come, which are copied first; ahead of the begin if
   *     less than 0
   */
  WeightRing(List<Step> steps, int stages, double refill, double stayed) {
    this.steps = steps;
    this.refill = refill;
    free = new double[stages];
    Arrays.fill(free, stayed);
    engine = stayed;
    clock = Math.max(0, stayed);
  }

  /** Clocks until now. */
  double clock() {
    return clock;
  }

  /** Lets warpgroups wait for something else. */
  void pass(double clocks) {
    clock += clocks;
  }

  /**
   * Carries a tile through all steps.
   *
   * @param times as long as a warpgroup that is alone, since others are at work
   * @param fetch clocks of an instruction, at least
   */
  void carry(double times, double fetch) {
    for (Step step : steps) {
      boolean flows = step.copied > 0;
      if (flows) {
        engine = Math.max(engine, free[next]) + step.copied;
        clock = Math.max(clock, engine + refill);
      }
      clock += Math.max(times * step.clocks, fetch * step.code);
      if (flows) {
        free[next] = clock;
        next = (next + 1) % free.length;
      }
    }
  }
}
