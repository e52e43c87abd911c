package dev.warpwright.measure.timing;

import java.util.Arrays;
import java.util.function.DoubleSupplier;

/**
 * Times a kernel as long as its noise demands: alone, or in turn with another one whose time is
 * known.
 *
 * <p>A device's clock follows its load, and falls by a quarter and more when matrix units draw all
 * the power that there is. Times of two kernels that are taken one after the other differ by that
 * much for nothing; taken in turn, their ratio does not.
 */
public final class AdaptiveTimer {
  private static final int LEAST_ROUNDS = 5;
  private static final int MOST_ROUNDS = 15;

  /** Standard error, as a part of the time, that is small enough. */
  private static final double ENOUGH = 0.002;

  /** By how much a kernel has to be slower than the anchor for its time not to matter. */
  private static final double HOPELESS = 1.25;

  /** The same for one whose time is known to some standard errors. */
  private static final double WORSE = 1.03;

  private static final double ERRORS = 4;

  /**
   * A time.
   *
   * @param micros median of the rounds
   * @param spread standard error of the median, as a part of it
   */
  public record Time(double micros, double spread) {}

  /**
   * What others are compared with.
   *
   * @param turn runs it for a turn, and tells the microseconds of a launch
   * @param micros the time that it is taken to need
   */
  public record Anchor(DoubleSupplier turn, double micros) {}

  private AdaptiveTimer() {}

  /**
   * Times a kernel alone.
   *
   * @param turn runs it for a turn, and tells the microseconds of a launch
   */
  public static Time alone(DoubleSupplier turn) {
    double[] times = new double[MOST_ROUNDS];
    for (int round = 0; round < MOST_ROUNDS; round++) {
      times[round] = turn.getAsDouble();
      if (round + 1 >= LEAST_ROUNDS) {
        Time now = of(Arrays.copyOf(times, round + 1));
        if (now.spread() < ENOUGH) {
          return now;
        }
      }
    }
    return of(times);
  }

  /**
   * Times a kernel in turn with the anchor.
   *
   * @param turn runs it for a turn, and tells the microseconds of a launch
   * @return the anchor's time, times the median of the rounds' ratios, each to the mean of the
   *     anchor's turns before and after: a clock that falls steadily is no advantage
   */
  public static Time against(Anchor anchor, DoubleSupplier turn) {
    double[] ratios = new double[MOST_ROUNDS];
    Time ratio = new Time(Double.NaN, Double.NaN);
    double before = anchor.turn().getAsDouble();
    for (int round = 0; round < MOST_ROUNDS; round++) {
      double time = turn.getAsDouble();
      double after = anchor.turn().getAsDouble();
      ratios[round] = 2 * time / (before + after);
      before = after;
      double[] known = Arrays.copyOf(ratios, round + 1);
      ratio = of(known);
      if (isEnough(known, ratio)) {
        break;
      }
    }
    return new Time(ratio.micros() * anchor.micros(), ratio.spread());
  }

  private static boolean isEnough(double[] ratios, Time ratio) {
    int rounds = ratios.length;
    if (rounds < 2) {
      return false;
    }
    // One turn may be disturbed: all say that it is hopeless, or it is not.
    boolean hopeless = Arrays.stream(ratios).min().orElse(0) > HOPELESS;
    boolean worse = rounds > 2 && ratio.micros() * (1 - ERRORS * ratio.spread()) > WORSE;
    return hopeless || worse || (rounds >= LEAST_ROUNDS && ratio.spread() < ENOUGH);
  }

  /**
   * Median, and its standard error by the median absolute deviation (1.4826 makes that a standard
   * deviation for normal noise, 1.253 that of the mean one of the median).
   */
  static Time of(double[] times) {
    double median = InterleavedTimer.median(times);
    double[] deviations = Arrays.stream(times).map(t -> Math.abs(t - median)).toArray();
    double deviation = 1.4826 * InterleavedTimer.median(deviations);
    return new Time(median, 1.253 * deviation / Math.sqrt(times.length) / median);
  }
}
