package dev.warpwright.perf.predict;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.perf.LowerBounds;
import dev.warpwright.perf.RooflineBound;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.Target;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the analytic model expects of a kernel before anything runs, and what no kernel for the same
 * job can beat.
 *
 * @param micros by the model; not a number if it has nothing to go by
 */
public record Prediction(double micros, RooflineBound least) {
  /** Of a kernel that does not say what it computes, or a device that is not in the catalogue. */
  public static final Prediction NONE = new Prediction(Double.NaN, RooflineBound.UNKNOWN);

  private static final String USUAL = "H200 SXM";

  /** The device of this name; else the largest in the catalogue of this target. */
  public static Optional<DeviceModel> device(String name, Target target) {
    return DeviceCatalogue.find(name).or(() -> device(target));
  }

  /** The device for which kernels of this target are predicted where it is not here. */
  public static Optional<DeviceModel> device(Target target) {
    return DeviceCatalogue.find(USUAL)
        .filter(device -> device.target() == target)
        .or(
            () ->
                DeviceCatalogue.ALL.stream()
                    .filter(device -> device.target() == target)
                    .max(java.util.Comparator.comparingInt(DeviceModel::sms)));
  }

  /** A kernel whose attributes say what it computes. */
  public static Prediction of(BoundKernel bound, DeviceModel device) {
    BoundWorkload workload = bound.workload();
    DType operands = workload.operands();
    Precision type = workload.precision();
    double rate = type.supportedBy(device) ? type.peak(device) : Double.POSITIVE_INFINITY;
    double bytes = workload.leastBytes();
    List<Part.GemmShape> shapes = new ArrayList<>();
    switch (workload) {
      case BoundWorkload.Gemm g -> {
        if (g.isPlain()) {
          double fast = (double) device.l2Bytes() / operands.bytes();
          bytes =
              Math.max(bytes, LowerBounds.gemmWords(g.m(), g.n(), g.k(), fast) * operands.bytes());
        }
        add(shapes, g.m() * g.batch().count(), g.n(), g.k(), type);
      }
      case BoundWorkload.Ffn f -> {
        long m = f.y().extent(0);
        add(shapes, m, f.h().extent(1), f.x().extent(1), type);
        add(shapes, m, f.y().extent(1), f.h().extent(1), type);
      }
    }
    double micros = shapes.isEmpty() ? Double.NaN : 0;
    for (Part.GemmShape shape : shapes) {
      micros +=
          GemmPrediction.of(shape, tiling(bound.kernel(), shape), order(bound), device).timeUs();
    }
    return new Prediction(
        micros, RooflineBound.of(workload.flops(), rate, bytes, device.dramGBs() * 1e9));
  }

  private static void add(List<Part.GemmShape> shapes, long m, long n, long k, Precision type) {
    if (type != Precision.F64 && k > 0) {
      shapes.add(new Part.GemmShape(m, n, k, type));
    }
  }

  /** Of one product; that of several is no order of the tiles of one. */
  private static BlockOrder order(BoundKernel bound) {
    String order = bound.kernel().attrs().getString("order");
    return order == null || !(bound.workload() instanceof BoundWorkload.Gemm)
        ? new BlockOrder.Row()
        : BlockOrder.parse(order);
  }

  /** As the attributes say, else the result shared out to the blocks of the grid. */
  private static Tiling tiling(Kernel kernel, Part.GemmShape shape) {
    long m = kernel.attrs().getLong("tileM", 0) * kernel.attrs().getLong("clusterM", 1);
    long n = kernel.attrs().getLong("tileN", 0) * kernel.attrs().getLong("clusterN", 1);
    if (m > 0 && n > 0) {
      // A tile of a gated linear unit's result is half of one of its product.
      String epilogue = kernel.attrs().getString("epilogue");
      boolean glu = epilogue != null && Epilogue.parse(epilogue).glu();
      return Tiling.of((int) m, (int) (glu ? 2 * n : n));
    }
    long columns = blocks(kernel, ThreadAxis.BLOCK_X);
    long rows = blocks(kernel, ThreadAxis.BLOCK_Y);
    return Tiling.of(
        (int) Math.max(1, Math.ceilDiv(shape.m(), rows)),
        (int) Math.max(1, Math.ceilDiv(shape.n(), columns)));
  }

  private static long blocks(Kernel kernel, ThreadAxis axis) {
    return Math.max(1, ScalarEval.eval(kernel.extent(axis), Map.of()));
  }
}
