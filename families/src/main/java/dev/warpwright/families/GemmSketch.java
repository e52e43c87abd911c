package dev.warpwright.families;

import dev.warpwright.base.UserError;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Features;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.Sketch;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A GEMM with the decisions of a family left open: which there are, which fit together, what is
 * expected of them, and the schedule that they make.
 *
 * @param <C> the decisions of the family
 */
public abstract class GemmSketch<C> implements Sketch {
  private static final Pattern NUMBER = Pattern.compile("[0-9]+");

  protected final GemmWorkload workload;
  protected final GpuTarget target;

  /** SMs of the device, which persistent kernels fill. */
  protected final int sms;

  protected GemmSketch(GemmWorkload workload, GpuTarget target, int sms) {
    this.workload = workload;
    this.target = target;
    this.sms = sms;
  }

  /** Decides, each decision narrowing the next. */
  protected abstract C config(Decisions decisions);

  /** What does not fit together; null if all does. */
  protected abstract @Nullable String problem(C config);

  /** What is expected, quickly: hundreds are weighed for one that is measured. */
  protected abstract Features features(C config);

  /** How the GEMM is cut into tiles; families that do not say so have one. */
  protected GemmTiles tiles(C config) {
    return GemmTiles.of(workload.m(), workload.n(), workload.k(), 1);
  }

  /**
   * How decisions cut the GEMM into tiles.
   *
   * @throws Rejected if the decisions do not fit together
   */
  public final GemmTiles tiles(Decisions decisions) {
    return tiles(config(decisions));
  }

  /** What is expected by other numbers; families whose model has none expect the same. */
  protected Features features(C config, Calibration calibration) {
    return features(config);
  }

  /**
   * Microseconds that are expected by other numbers than the target's.
   *
   * @throws Rejected if the decisions do not fit together
   */
  public final double micros(Decisions decisions, Calibration calibration) {
    return features(config(decisions), calibration).predictedUs();
  }

  /**
   * Schedules and lowers.
   *
   * @throws UserError if the schedule is refused
   */
  protected abstract ScheduledGemm schedule(C config);

  @Override
  public final Plan plan(Decisions decisions) {
    C config = config(decisions);
    String problem = problem(config);
    if (problem != null) {
      // Problems differ in numbers; what is left without them is what they are counted by.
      throw new Rejected(NUMBER.matcher(problem).replaceAll("#"), problem);
    }
    return new Plan(
        features(config),
        () -> {
          try {
            return schedule(config).kernel();
          } catch (UserError e) {
            throw new Rejected("schedule", String.valueOf(e.getMessage()));
          }
        },
        Map.of());
  }

  /**
   * Schedules and lowers what was decided.
   *
   * @throws Rejected if it does not fit together
   * @throws UserError if the schedule is refused
   */
  public final ScheduledGemm schedule(Decisions decisions) {
    return schedule(config(decisions));
  }

  /** An integer that is decided. */
  protected static int number(Decisions d, String name, long... options) {
    return Math.toIntExact(d.choose(name, options));
  }
}
