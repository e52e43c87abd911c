package dev.warpwright.compiler.check;

import dev.warpwright.compiler.bench.BoundKernel;
import dev.warpwright.compiler.bench.Workload;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.cost.LowerBounds;
import dev.warpwright.cost.OrderTraffic;
import dev.warpwright.ir.BlockOrder;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ScalarEval;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.Var;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.KernelCounters;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.KernelResources;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * What a launch will ask of the memories of a GPU. The simulator counts two small launches, and the
 * counters of the large one follow, for they are linear: of a product in its tiles and in K, of a
 * network in its rows. What products read from the device's memory follows from the order of their
 * tiles ({@link OrderTraffic}).
 *
 * @param kernel its name
 * @param work tiles, or rows, that the launch has
 * @param counters by name, in the order of reports; in requests, wavefronts, sectors of 32 bytes or
 *     bytes
 * @param waves how often all multiprocessors take a tile; 0 for a network
 * @param lastWave how full the last wave is, 0 to 1
 * @param leastDramBytes that any kernel for this job reads and writes
 * @param leastMicros operations and bytes over the device's rates, whichever takes longer
 */
public record CounterPrediction(
    String kernel,
    long work,
    Map<String, Double> counters,
    int waves,
    double lastWave,
    double leastDramBytes,
    double leastMicros) {
  private static final int SECTOR = 32;
  private static final long RESERVED = 1 << 10;

  /** First level and shared memory of a multiprocessor of compute capability 9.0 together. */
  private static final long FIRST_LEVEL = 256 << 10;

  private static final List<Long> CARVE_OUTS =
      Stream.of(0L, 8L, 16L, 32L, 64L, 100L, 132L, 164L, 196L, 228L).map(k -> k << 10).toList();

  /** Counters, and where a small launch's are. */
  private static final Map<String, ToLongFunction<KernelCounters>> COUNTERS = counterNames();

  private static Map<String, ToLongFunction<KernelCounters>> counterNames() {
    Map<String, ToLongFunction<KernelCounters>> names = new LinkedHashMap<>();
    names.put("sharedLoadWavefronts", c -> c.sharedLoads().units() + c.matrixLoads().units());
    names.put("sharedLoadConflicts", c -> c.sharedLoads().lost() + c.matrixLoads().lost());
    names.put("sharedStoreWavefronts", c -> c.sharedStores().units() + c.matrixStores().units());
    names.put("sharedStoreConflicts", c -> c.sharedStores().lost() + c.matrixStores().lost());
    names.put("globalLoadRequests", c -> c.globalLoads().count());
    names.put("globalLoadSectors", c -> c.globalLoads().units());
    names.put("globalStoreRequests", c -> c.globalStores().count());
    names.put("globalStoreSectors", c -> c.globalStores().units());
    names.put("asyncLoadSectors", c -> c.asyncLoads().units());
    names.put("l2ToL1Bytes", c -> (c.l2ReadSectors() + c.multicastSectors()) * SECTOR);
    names.put("l2WriteBytes", c -> c.l2WriteSectors() * SECTOR);
    names.put("dramReadBytes", KernelCounters::dramReadBytes);
    names.put("multiplyAdds", KernelCounters::multiplyAdds);
    names.put("matrixMultiplyAdds", KernelCounters::matrixMultiplyAdds);
    return names;
  }

  /**
   * First level: what the blocks in residence leave of it as shared memory. Second level: the half
   * that serves a multiprocessor.
   */
  private static KernelCounters.Caches caches(Kernel kernel, int sms, DeviceModel device) {
    long blocks = Math.max(1, kernel.attrs().getLong("minBlocks", 1));
    long shared = blocks * (KernelResources.of(kernel).sharedBytes() + RESERVED);
    long carved = CARVE_OUTS.stream().filter(c -> c >= shared).findFirst().orElse(FIRST_LEVEL);
    return new KernelCounters.Caches(
        Math.max(FIRST_LEVEL - carved, RESERVED), ((long) device.l2MiB() << 20) / 2, sms);
  }

  /**
   * A product in Kernel text.
   *
   * @param values of its scalars
   * @throws UserError if the kernel is no product, or a scalar is missing
   */
  public static CounterPrediction product(
      Kernel kernel, Map<String, Long> values, DeviceModel device) {
    BoundKernel bound = BoundKernel.of(kernel, values);
    if (!(bound.workload() instanceof Workload.Gemm gemm)) {
      throw new UserError(
          kernel.name() + ": counters are predicted for single products and for networks");
    }
    long m = gemm.m();
    long n = gemm.n();
    long k = gemm.k();
    OrderTraffic.Tile tile = tile(kernel, values);
    long first = Math.min(k, 512);
    long second = Math.min(k, 1024);
    Map<String, Double> one = count(kernel, tile, first, device);
    Map<String, Double> two = second == first ? one : count(kernel, tile, second, device);
    long clusters =
        Math.ceilDiv(m, (long) tile.m() * tile.clusterM())
            * Math.ceilDiv(n, (long) tile.n() * tile.clusterN());
    Map<String, Double> counters = new LinkedHashMap<>();
    one.forEach(
        (name, value) -> {
          double step =
              second == first ? 0 : (two.getOrDefault(name, value) - value) / (second - first);
          counters.put(name, clusters * (value + step * (k - first)));
        });
    int blocks =
        (int) Math.max(1, kernel.attrs().getLong("minBlocks", 1)) * device.multiprocessors();
    String order = kernel.attrs().getString("order");
    OrderTraffic traffic =
        OrderTraffic.of(
            new OrderTraffic.Product(m, n, k, gemm.a().dtype().bytes(), gemm.c().dtype().bytes()),
            tile,
            order == null ? new BlockOrder.Row() : BlockOrder.parse(order),
            blocks,
            ((long) device.l2MiB() << 20) / 2);
    counters.put("dramReadBytes", (double) traffic.dramReadBytes());
    double rate =
        1e12
            * switch (gemm.a().dtype()) {
              case BF16 -> device.bf16Tflops();
              case F16 -> device.f16Tflops();
              default -> device.fp32Tflops();
            };
    double words = LowerBounds.gemmWords(m, n, k, (double) (device.l2MiB() << 20) / 2);
    double least = Math.max(words * gemm.a().dtype().bytes(), bound.workload().leastBytes());
    return new CounterPrediction(
        kernel.name(),
        clusters * tile.clusterM() * tile.clusterN(),
        counters,
        traffic.waves(),
        traffic.lastWave(),
        least,
        1e6 * LowerBounds.seconds(bound.workload().flops(), rate, least, device.dramGBs() * 1e9));
  }

  /** Counters of one cluster's tile. */
  private static Map<String, Double> count(
      Kernel kernel, OrderTraffic.Tile tile, long k, DeviceModel device) {
    BoundKernel bound =
        BoundKernel.of(
            kernel,
            Map.of(
                "M", (long) tile.m() * tile.clusterM(),
                "N", (long) tile.n() * tile.clusterN(),
                "K", k));
    KernelCounters counted =
        new GridInterpreter(bound.kernel(), GridOptions.counting(device.multiprocessors()))
            .count(
                KernelData.of(bound, 1), caches(bound.kernel(), device.multiprocessors(), device));
    return values(counted);
  }

  private static Map<String, Double> values(KernelCounters counted) {
    Map<String, Double> values = new LinkedHashMap<>();
    COUNTERS.forEach((name, of) -> values.put(name, (double) of.applyAsLong(counted)));
    return values;
  }

  /** As the attributes say; else as large as one block's. */
  private static OrderTraffic.Tile tile(Kernel kernel, Map<String, Long> values) {
    long m = kernel.attrs().getLong("tileM", 0);
    long n = kernel.attrs().getLong("tileN", 0);
    return new OrderTraffic.Tile(
        (int) (m > 0 ? m : extent(kernel, values, "M")),
        (int) (n > 0 ? n : extent(kernel, values, "N")),
        64,
        (int) kernel.attrs().getLong("clusterM", 1),
        (int) kernel.attrs().getLong("clusterN", 1));
  }

  /** The largest value of a scalar for which there are no more blocks than for 1. */
  private static long extent(Kernel kernel, Map<String, Long> values, String name) {
    Map<Var, Long> scalars = new HashMap<>();
    kernel.scalars().forEach(s -> scalars.put(s.var(), values.getOrDefault(s.name(), 1L)));
    Var v =
        kernel.scalars().stream()
            .filter(s -> s.name().equals(name))
            .findFirst()
            .orElseThrow(() -> new UserError(kernel.name() + " has no scalar " + name))
            .var();
    scalars.put(v, 1L);
    long least = blocks(kernel, scalars);
    long size = 1;
    for (; size <= 1024; size++) {
      scalars.put(v, size + 1);
      if (blocks(kernel, scalars) > least) {
        break;
      }
    }
    return size;
  }

  private static long blocks(Kernel kernel, Map<Var, Long> scalars) {
    long blocks = 1;
    for (ThreadAxis axis : ThreadAxis.values()) {
      if (axis.isBlock()) {
        blocks *= ScalarEval.eval(kernel.extent(axis), scalars);
      }
    }
    return blocks;
  }

  /** The kernels of a network for so many rows. */
  public static List<CounterPrediction> network(
      CompiledProgram network, long rows, DeviceModel device) {
    List<CounterPrediction> predictions = new ArrayList<>();
    List<Kernel> kernels = network.program().kernels();
    for (int i = 0; i < kernels.size(); i++) {
      long height = extent(kernels.get(i), Map.of(), kernels.get(i).scalars().getFirst().name());
      double blocks = (double) rows / height;
      // One block, and two one after the other, on one multiprocessor.
      Map<String, Double> one = values(count(network, kernels.get(i), (int) height, device).get(i));
      Map<String, Double> two =
          values(count(network, kernels.get(i), (int) (2 * height), device).get(i));
      double each = Math.max(1, blocks / device.multiprocessors());
      Map<String, Double> counters = new LinkedHashMap<>();
      one.forEach(
          (name, value) -> {
            double more = two.getOrDefault(name, value) - value;
            boolean once = name.equals("dramReadBytes");
            counters.put(
                name,
                once ? value + more * (blocks - 1) : blocks / each * (value + more * (each - 1)));
          });
      double bytes = counters.getOrDefault("dramReadBytes", 0.0);
      predictions.add(
          new CounterPrediction(
              kernels.get(i).name(),
              rows,
              counters,
              0,
              0,
              bytes,
              1e6 * bytes / (device.dramGBs() * 1e9)));
    }
    return predictions;
  }

  private static List<KernelCounters> count(
      CompiledProgram network, Kernel kernel, int rows, DeviceModel device) {
    Arguments arguments = Checks.arguments(network, rows, 1);
    return new ProgramInterpreter(network.program(), GridOptions.counting(1), Options.EXACT)
        .count(arguments, caches(kernel, 1, device));
  }
}
