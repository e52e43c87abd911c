package dev.warpwright.perf.analyze;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.predict.GemmPrediction;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.target.DeviceModel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * How a product's time climbs with one of its extents: a step for each new wave.
 *
 * @param values of the extent
 * @param points one for each
 * @param times predicted for each, in microseconds: a smaller product never takes longer than a
 *     larger one of the same kind, to which it could be padded
 */
public record Staircase(List<Long> values, List<GemmPrediction> points, List<Double> times) {
  private static final int POINTS = 128;

  public Staircase {
    values = List.copyOf(values);
    points = List.copyOf(points);
    times = List.copyOf(times);
  }

  /**
   * From one step up to {@code last}.
   *
   * @param dimension M, N or K
   * @param tilings of which the fastest is taken at each value
   */
  public static Staircase of(
      GemmShape shape, String dimension, long last, List<Tiling> tilings, DeviceModel device) {
    List<Long> values = new ArrayList<>();
    List<GemmPrediction> points = new ArrayList<>();
    for (int i = 1; i <= POINTS; i++) {
      long value = Math.max(1, last * i / POINTS);
      if (!values.isEmpty() && values.getLast() == value) {
        continue;
      }
      GemmShape at =
          switch (dimension) {
            case "M" -> new GemmShape(value, shape.n(), shape.k(), shape.type());
            case "N" -> new GemmShape(shape.m(), value, shape.k(), shape.type());
            case "K" -> new GemmShape(shape.m(), shape.n(), value, shape.type());
            default -> throw new UserError("dimension '" + dimension + "' is none of M, N and K");
          };
      values.add(value);
      points.add(
          tilings.stream()
              .map(tiling -> GemmPrediction.of(at, tiling, new BlockOrder.Grouped(8), device))
              .min(Comparator.comparingDouble(GemmPrediction::timeUs))
              .orElseThrow());
    }
    Double[] times = new Double[points.size()];
    double least = Double.POSITIVE_INFINITY;
    for (int i = times.length - 1; i >= 0; i--) {
      least = Math.min(least, points.get(i).timeUs());
      times[i] = least;
    }
    return new Staircase(values, points, List.of(times));
  }
}
