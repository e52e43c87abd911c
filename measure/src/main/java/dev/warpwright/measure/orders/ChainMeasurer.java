package dev.warpwright.measure.orders;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.measure.OrderBench;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.measure.timing.TimelineProbe;
import dev.warpwright.perf.order.WorkItem;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Measures two chained products in one grid: on the first GPU here, or in the simulator. */
public final class ChainMeasurer {
  private static final long MOST_PRODUCTS = 1L << 28;
  private static final double TOLERANCE = 1e-2;

  /** An order of the tiles of both results, by a name. */
  public record Named(String name, List<WorkItem> items) {
    public Named {
      items = List.copyOf(items);
    }
  }

  /**
   * One kernel.
   *
   * @param refusal why tiles in this order cannot wait so; null if they can
   */
  public record Pair(Named order, WaitPolicy waits, @Nullable String refusal) {
    /** One line of a pair that is refused. */
    public String note() {
      return "order=" + order.name() + " wait=" + waits.text() + " is not possible: " + refusal;
    }
  }

  /**
   * What to measure: each order with each policy, where that is possible.
   *
   * @param counterSeconds that Nsight Compute may take; 0 for no counters
   */
  public record Request(
      FfnWorkload workload,
      Tiling tiling,
      List<Named> orders,
      List<WaitPolicy> waits,
      double counterSeconds,
      long seed) {
    public Request {
      orders = List.copyOf(orders);
      waits = List.copyOf(waits);
    }

    /** Order after order, policy after policy. */
    public List<Pair> pairs() {
      List<Pair> pairs = new ArrayList<>();
      for (Named order : orders) {
        for (WaitPolicy wait : waits) {
          String refusal = ChainKernels.refusal(workload, tiling, order.items(), wait);
          pairs.add(new Pair(order, wait, refusal));
        }
      }
      return pairs;
    }

    /**
     * Those that are possible.
     *
     * @throws UserError if none is
     */
    List<Pair> possible() {
      List<Pair> pairs = pairs();
      List<Pair> possible = pairs.stream().filter(pair -> pair.refusal() == null).toList();
      if (possible.isEmpty()) {
        throw new UserError(pairs.getFirst().note());
      }
      return possible;
    }

    /** The kernels of all that are possible. */
    List<Kernel> kernels(GpuTarget target, int sms) {
      return possible().stream()
          .map(
              pair ->
                  ChainKernels.of(
                      workload, tiling, pair.order().items(), pair.waits(), target, sms))
          .toList();
    }
  }

  private ChainMeasurer() {}

  /**
   * On the GPU.
   *
   * @throws DeviceError if there is none
   */
  public static List<ChainMeasurement> onGpu(Request request, OrderMeasurer.Watcher watcher) {
    List<ChainMeasurement> measured = new ArrayList<>();
    List<Pair> pairs = request.possible();
    try (Gpu device =
        Gpu.find()
            .orElseThrow(() -> new DeviceError("no GPU here to measure on; from=simulator"))) {
      List<Kernel> kernels =
          request.kernels((GpuTarget) device.target(), device.context().device().sms());
      try (var bench = new OrderBench(kernels.getFirst(), device, request.seed())) {
        for (Kernel kernel : kernels) {
          Named order = pairs.get(measured.size()).order();
          WaitPolicy wait = pairs.get(measured.size()).waits();
          watcher.say(order.name() + ", wait=" + wait.text());
          OrderBench.Result result = bench.measure(kernel);
          boolean right = result.failure() == null;
          measured.add(
              new ChainMeasurement(
                  request.workload(),
                  request.tiling(),
                  order.name(),
                  wait,
                  device.name(),
                  right ? new OrderMeasurement.Times(result.timeUs(), result.spread()) : null,
                  result.relError(),
                  result.failure(),
                  null,
                  right ? timeline(Timeline.Unit.NS, result.records()) : null));
        }
      }
    }
    return request.counterSeconds() > 0 ? counted(request, measured, watcher) : measured;
  }

  private static List<ChainMeasurement> counted(
      Request request, List<ChainMeasurement> measured, OrderMeasurer.Watcher watcher) {
    watcher.say("Nsight Compute counts " + measured.size() + " launches");
    try {
      List<Map<String, Double>> launches =
          NsightCompute.count(
              LaunchChains.command(request),
              LaunchChains.KERNELS,
              request.counterSeconds(),
              watcher::cancelled);
      List<ChainMeasurement> counted = new ArrayList<>();
      for (int i = 0; i < measured.size(); i++) {
        counted.add(
            i < launches.size()
                ? measured.get(i).with(GpuOrderMeasurer.counters(launches.get(i)))
                : measured.get(i));
      }
      return counted;
    } catch (DeviceError e) {
      watcher.say(String.valueOf(e.getMessage()));
      return measured;
    }
  }

  /** In the simulator, whose warps take turns; shapes have to be small. */
  public static List<ChainMeasurement> inSimulator(
      Request request, DeviceModel device, OrderMeasurer.Watcher watcher) {
    if (request.workload().flops() / 2 > MOST_PRODUCTS) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s is too large for the simulator, at most %d GEMMs",
              request.workload().text(),
              MOST_PRODUCTS));
    }
    List<ChainMeasurement> measured = new ArrayList<>();
    List<Pair> pairs = request.possible();
    for (Kernel kernel : request.kernels(device.target(), device.sms())) {
      Named order = pairs.get(measured.size()).order();
      WaitPolicy wait = pairs.get(measured.size()).waits();
      watcher.say(order.name() + ", wait=" + wait.text() + " in the simulator");
      measured.add(simulated(request, order, wait, kernel, device));
    }
    return measured;
  }

  private static ChainMeasurement simulated(
      Request request, Named order, WaitPolicy wait, Kernel kernel, DeviceModel device) {
    BoundKernel bound = BoundKernel.of(kernel, Map.of());
    TimelineProbe probe = TimelineProbe.of(bound.kernel());
    Map<Buffer, BoundKernel.Content> contents = new LinkedHashMap<>(bound.contents());
    contents.put(probe.records(), new BoundKernel.Content.Poison());
    Arguments arguments =
        KernelData.of(new BoundKernel(probe.kernel(), bound.workload(), contents), request.seed());
    GridOptions options =
        GridOptions.DEFAULT
            .withBlocks(Options.Order.FORWARD, ChainKernels.blocks(request.tiling(), device.sms()))
            .withWarps(GridOptions.WarpChoice.TURNS);
    try {
      new GridInterpreter(probe.kernel(), options).run(arguments);
    } catch (SimulationError e) {
      throw new UserError(order.name() + " cannot be simulated: " + e.getMessage(), e);
    }
    double error = error(arguments);
    boolean right = error <= TOLERANCE;
    NdArray records = arguments.get(probe.records());
    long[] rows = new long[Math.toIntExact(probe.records().storageElements())];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = records.integerElement(i);
    }
    return new ChainMeasurement(
        request.workload(),
        request.tiling(),
        order.name(),
        wait,
        "simulator of " + device.name(),
        null,
        error,
        right ? null : "the result is wrong: relative error " + error,
        null,
        right ? timeline(Timeline.Unit.TURNS, rows) : null);
  }

  private static @Nullable Timeline timeline(Timeline.Unit unit, long[] records) {
    try {
      return Timeline.of(unit, records, 1);
    } catch (IllegalStateException e) {
      return null;
    }
  }

  /** Beside sums in double precision, of the first product too. */
  private static double error(Arguments arguments) {
    double[][] hidden = product(arguments.get("X"), arguments.get("W1"));
    for (double[] row : hidden) {
      for (int i = 0; i < row.length; i++) {
        row[i] = 0.5 * row[i] * (1 + erf(row[i] / Math.sqrt(2)));
      }
    }
    double[][] wanted = product(hidden, matrix(arguments.get("W2")));
    double[][] found = matrix(arguments.get("Y"));
    double errors = 0;
    double norm = 0;
    for (int i = 0; i < wanted.length; i++) {
      for (int j = 0; j < wanted[i].length; j++) {
        errors += Math.pow(found[i][j] - wanted[i][j], 2);
        norm += wanted[i][j] * wanted[i][j];
      }
    }
    return Math.sqrt(errors / norm);
  }

  private static double[][] matrix(NdArray array) {
    int rows = (int) array.shape()[0];
    int columns = (int) array.shape()[1];
    double[] all = array.toDoubles();
    double[][] matrix = new double[rows][];
    for (int i = 0; i < rows; i++) {
      matrix[i] = java.util.Arrays.copyOfRange(all, i * columns, (i + 1) * columns);
    }
    return matrix;
  }

  private static double[][] product(NdArray left, NdArray right) {
    return product(matrix(left), matrix(right));
  }

  /** Both along K. */
  private static double[][] product(double[][] left, double[][] right) {
    double[][] out = new double[left.length][right.length];
    for (int i = 0; i < left.length; i++) {
      for (int j = 0; j < right.length; j++) {
        double sum = 0;
        for (int k = 0; k < left[i].length; k++) {
          sum = Math.fma(left[i][k], right[j][k], sum);
        }
        out[i][j] = sum;
      }
    }
    return out;
  }

  /** By its series or, where that is long, its continued fraction. */
  private static double erf(double x) {
    double size = Math.abs(x);
    double value;
    if (size < 3) {
      double term = size;
      double sum = size;
      for (int n = 1; n < 80; n++) {
        term *= -size * size / n;
        sum += term / (2 * n + 1);
      }
      value = 2 / Math.sqrt(Math.PI) * sum;
    } else {
      double fraction = size;
      for (int n = 40; n > 0; n--) {
        fraction = size + n / 2.0 / fraction;
      }
      value = 1 - Math.exp(-size * size) / (Math.sqrt(Math.PI) * fraction);
    }
    return x < 0 ? -value : value;
  }
}
