package dev.warpwright.perf.analyze;

import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.predict.GemmPrediction;
import dev.warpwright.perf.predict.Part;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.target.DeviceModel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A workload on a device: each part's bound, and the best tiles predicted for products. */
public record Analysis(WorkloadParts workload, DeviceModel device, List<Line> lines) {
  private static final BlockOrder ORDER = new BlockOrder.Grouped(8);

  /**
   * One part.
   *
   * @param best tiles of the usual sizes, in groups of 8 rows; null if the part is no product
   */
  public record Line(Part part, Roofline roofline, @Nullable GemmPrediction best) {
    /** All occurrences, at least. */
    public double totalBoundUs() {
      return part.times() * roofline.boundUs();
    }

    /** Whether all that it reads and writes fits into L2. */
    public boolean fitsL2() {
      return part.bytes() <= roofline.device().l2Bytes();
    }
  }

  public Analysis {
    lines = List.copyOf(lines);
  }

  /** Analyses. */
  public static Analysis of(WorkloadParts workload, DeviceModel device) {
    List<Line> lines = new ArrayList<>();
    for (Part part : workload.parts()) {
      GemmShape shape = part.gemm();
      lines.add(
          new Line(
              part,
              Roofline.of(part, workload.type(), device),
              shape == null ? null : best(shape, device)));
    }
    return new Analysis(workload, device, lines);
  }

  private static GemmPrediction best(GemmShape shape, DeviceModel device) {
    return Tiling.usual(device).stream()
        .map(tiling -> GemmPrediction.of(shape, tiling, ORDER, device))
        .min(Comparator.comparingDouble(GemmPrediction::timeUs))
        .orElseThrow();
  }

  /** Of all parts that fusion does not remove, at least. */
  public double boundUs() {
    return lines.stream()
        .filter(line -> !line.part().vanishes())
        .mapToDouble(Line::totalBoundUs)
        .sum();
  }

  /** The same parts as predicted; those that are no products take what they take at least. */
  public double predictedUs() {
    return lines.stream()
        .filter(line -> !line.part().vanishes())
        .mapToDouble(
            line -> {
              GemmPrediction best = line.best();
              return best == null ? line.totalBoundUs() : line.part().times() * best.timeUs();
            })
        .sum();
  }

  /**
   * What has to lie in device memory: the right operands of all products, which are a network's
   * weights, the keys and values of attention, and the largest input and result.
   */
  public double residentBytes() {
    double stay = 0;
    double largest = 0;
    for (Line line : lines) {
      GemmShape shape = line.part().gemm();
      if (shape != null) {
        double weights = (double) shape.n() * shape.k() * shape.type().operand().bytes();
        stay += line.part().times() * weights;
        largest = Math.max(largest, line.part().bytes() - weights);
      } else if (!line.part().vanishes()) {
        stay += line.part().times() * line.part().bytes();
      }
    }
    return stay + largest;
  }

  /** Whether that fits. */
  public boolean fits() {
    return residentBytes() <= device.dramGB() * 1e9;
  }
}
