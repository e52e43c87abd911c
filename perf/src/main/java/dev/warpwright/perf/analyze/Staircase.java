package dev.warpwright.perf.analyze;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.analyze.Part.GemmShape;
import dev.warpwright.target.DeviceModel;
import java.util.ArrayList;
import java.util.List;

/**
 * How a product's time climbs with one of its extents: a step for each new wave.
 *
 * @param values of the extent
 * @param points one for each
 */
public record Staircase(List<Long> values, List<GemmPrediction> points) {
  private static final int POINTS = 128;

  public Staircase {
    values = List.copyOf(values);
    points = List.copyOf(points);
  }

  /**
   * From one step up to {@code last}.
   *
   * @param dimension M, N or K
   */
  public static Staircase of(
      GemmShape shape, String dimension, long last, Tiling tiling, DeviceModel device) {
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
      points.add(GemmPrediction.of(at, tiling, new BlockOrder.Grouped(8), device));
    }
    return new Staircase(values, points);
  }
}
