package dev.warpwright.measure.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.measure.timing.TimelineProbe;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.kernel.BoundKernel;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Runs kernels in the simulator, whose warps take turns: a timeline in turns, no times. It needs no
 * GPU, and shapes have to be small.
 */
public final class SimulatedOrderMeasurer implements OrderMeasurer {
  private static final long MOST_PRODUCTS = 1L << 29;
  private static final double TOLERANCE = 4e-3;

  private final DeviceModel device;

  /**
   * Simulates a device.
   *
   * @param device which says how many blocks are in execution at a time
   */
  public SimulatedOrderMeasurer(DeviceModel device) {
    this.device = device;
  }

  @Override
  public List<OrderMeasurement> measure(Request request, Watcher watcher) {
    GemmShape shape = request.shape();
    if (shape.flops() / 2 > MOST_PRODUCTS) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s is too large for the simulator, which takes at most M·N·K = %d",
              shape.text(),
              MOST_PRODUCTS));
    }
    List<OrderMeasurement> measured = new ArrayList<>();
    for (Tiling tiling : request.tilings()) {
      for (BlockOrder order : request.orders()) {
        if (watcher.cancelled()) {
          return measured;
        }
        watcher.say(
            String.format(Locale.ROOT, "%s, %s in the simulator", tiling.text(), order.label()));
        measured.add(measure(request, tiling, order));
      }
    }
    return measured;
  }

  private OrderMeasurement measure(Request request, Tiling tiling, BlockOrder order) {
    GpuTarget target = device.target();
    Kernel kernel = OrderKernels.of(request.shape(), tiling, order, target, device.sms());
    BoundKernel bound = BoundKernel.of(kernel, Map.of());
    TimelineProbe probe = TimelineProbe.of(bound.kernel());
    Map<Buffer, BoundKernel.Content> contents = new LinkedHashMap<>(bound.contents());
    contents.put(probe.records(), new BoundKernel.Content.Poison());
    Arguments arguments =
        KernelData.of(new BoundKernel(probe.kernel(), bound.workload(), contents), request.seed());
    int resident = tiling.atOnce(device) * tiling.sms();
    GridOptions options =
        GridOptions.DEFAULT
            .withBlocks(Options.Order.FORWARD, resident)
            .withWarps(GridOptions.WarpChoice.TURNS);
    try {
      new GridInterpreter(probe.kernel(), options).run(arguments);
    } catch (SimulationError e) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "the kernel for tile=%s cannot be simulated: %s",
              tiling.text(),
              e.getMessage()),
          e);
    }
    double error = error(arguments);
    boolean right = error <= TOLERANCE;
    NdArray records = arguments.get(probe.records());
    long[] rows = new long[Math.toIntExact(probe.records().storageElements())];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = records.integerElement(i);
    }
    return new OrderMeasurement(
        request.shape(),
        tiling,
        order,
        OrderKernels.name(tiling),
        "simulator of " + device.name(),
        LocalDate.now(ZoneOffset.UTC).toString(),
        null,
        error,
        right ? null : "the result is wrong: relative error " + error,
        null,
        right ? Timeline.of(Timeline.Unit.TURNS, rows, tiling.sms()) : null);
  }

  /** Beside sums in double precision. */
  private static double error(Arguments arguments) {
    NdArray a = arguments.get("A");
    NdArray b = arguments.get("B");
    NdArray c = arguments.get("C");
    int m = (int) c.shape()[0];
    int n = (int) c.shape()[1];
    int k = (int) a.shape()[1];
    double[] left = a.toDoubles();
    double[] right = b.toDoubles();
    double[] result = c.toDoubles();
    double errors = 0;
    double norm = 0;
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int p = 0; p < k; p++) {
          sum = Math.fma(left[i * k + p], right[j * k + p], sum);
        }
        double difference = result[i * n + j] - sum;
        errors += difference * difference;
        norm += sum * sum;
      }
    }
    return Math.sqrt(errors / norm);
  }
}
