package dev.warpwright.measure.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.gemv.StreamedSketch;
import dev.warpwright.families.mma.AmpereModel;
import dev.warpwright.families.simt.SimtModel;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.wgmma.HopperModel;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.WorkloadKey;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Fits the numbers of a time model to measurements, one number after the other: each is changed by
 * ever smaller steps while that brings predictions nearer to what was measured. Measurements count
 * the more the nearer they are to the fastest of their GEMM: a model is asked which candidates are
 * fast.
 */
public final class CalibrationFit {
  /** Fewer measurements say little about tens of numbers. */
  private static final int LEAST = 50;

  /** More take long and change little. */
  private static final int MOST = 1500;

  private static final Set<String> GEMMS =
      Set.of(HopperModel.SECTION, AmpereModel.SECTION, SimtModel.SECTION, StreamedSketch.SECTION);
  private static final double[] STEPS = {0.3, 0.1, 0.03, 0.01};
  private static final int ROUNDS = 3;

  private final String model;
  private final List<Timed> samples;

  /**
   * Something that was timed.
   *
   * @param expected microseconds, by a calibration
   * @param micros that it took
   * @param fastest microseconds of the fastest that computes the same
   */
  public record Timed(ToDoubleFunction<Calibration> expected, double micros, double fastest) {
    private double weight() {
      return fastest * fastest / (micros * micros);
    }

    private double error(Calibration calibration) {
      double error = Math.log(micros / expected.applyAsDouble(calibration));
      return weight() * error * error;
    }
  }

  /**
   * What came out.
   *
   * @param measurements that were used
   * @param before the deviation of the logarithms of measured by predicted times
   * @param after the same by the new numbers
   */
  public record Result(Calibration calibration, int measurements, double before, double after) {}

  private CalibrationFit(String model, List<Timed> samples) {
    this.model = model;
    this.samples = samples;
  }

  /**
   * Fits a family's model.
   *
   * @param model the family: {@code wgmma}, {@code mma}, {@code simt} or {@code streamed}
   * @param records of any devices and families
   * @throws UserError if the model has no numbers, or too few records are of it and the device
   */
  public static Result fit(String model, DeviceModel device, List<TuningRecord> records) {
    return fitTo(model, device, samples(model, device, records));
  }

  /**
   * Fits a model to what is known of it.
   *
   * @param model the section of calibrations
   * @param device that all was timed on
   * @throws UserError if the model has no numbers, or too little was timed
   */
  public static Result fitTo(String model, DeviceModel device, List<Timed> timed) {
    Calibration start = Calibration.of(device).fitted(device);
    if (start.names(model).isEmpty()) {
      throw new UserError("--model " + model + ": it is wgmma, mma, simt, streamed or chains");
    }
    if (timed.size() < LEAST) {
      throw new UserError(
          "--model "
              + model
              + ": "
              + timed.size()
              + " measurements on "
              + device.name()
              + " are too few, "
              + LEAST
              + " are needed; tune some "
              + (GEMMS.contains(model) ? "GEMMs" : "networks")
              + " there first");
    }
    int every = Math.max(1, Math.ceilDiv(timed.size(), MOST));
    return new CalibrationFit(
            model,
            IntStream.iterate(0, i -> i < timed.size(), i -> i + every)
                .mapToObj(timed::get)
                .toList())
        .from(start);
  }

  private static List<Timed> samples(String model, DeviceModel device, List<TuningRecord> records) {
    Map<WorkloadKey, Space> spaces = new HashMap<>();
    Map<WorkloadKey, Double> fastest = new HashMap<>();
    List<TuningRecord> usable = new ArrayList<>();
    for (TuningRecord record : records) {
      if (record.outcome() instanceof Outcome.Measured measured
          && model.equals(record.point().option(Space.SKETCH))
          && DeviceCatalogue.find(record.environment().device()).orElse(null) == device) {
        Space space =
            spaces.computeIfAbsent(
                record.workload(),
                key -> GemmSpace.of(GemmWorkload.of(key), device.target(), device.sms()));
        Space.Drawn drawn = space.replay(record.point());
        if (drawn.candidate() != null && drawn.point().agrees(record.point())) {
          usable.add(record);
          fastest.merge(record.workload(), measured.timeUs(), Math::min);
        }
      }
    }
    return usable.stream()
        .map(
            record -> {
              GemmSketch<?> sketch =
                  GemmSpace.sketch(
                      GemmWorkload.of(record.workload()),
                      device.target(),
                      device.sms(),
                      record.point());
              return new Timed(
                  calibration -> sketch.micros(GemmSpace.decided(record.point()), calibration),
                  ((Outcome.Measured) record.outcome()).timeUs(),
                  Objects.requireNonNull(fastest.get(record.workload())));
            })
        .toList();
  }

  private Result from(Calibration start) {
    double before = error(start);
    Calibration best = start;
    double least = before;
    for (double step : STEPS) {
      for (int round = 0; round < ROUNDS; round++) {
        double entry = least;
        for (String name : start.names(model)) {
          double value = best.number(model, name);
          for (double other :
              new double[] {rounded(value * (1 + step)), rounded(value / (1 + step))}) {
            Calibration changed = best.with(model, name, other);
            double error = error(changed);
            if (error < least) {
              least = error;
              best = changed;
            }
          }
        }
        if (least == entry) {
          break;
        }
      }
    }
    return new Result(best, samples.size(), before, least);
  }

  /** Four digits are more than measurements tell. */
  private static double rounded(double value) {
    return new BigDecimal(value).round(new MathContext(4)).doubleValue();
  }

  private double error(Calibration calibration) {
    double sum = 0;
    double weights = 0;
    for (Timed sample : samples) {
      sum += sample.error(calibration);
      weights += sample.weight();
    }
    return Math.sqrt(sum / weights);
  }
}
