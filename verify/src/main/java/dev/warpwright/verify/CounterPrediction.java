package dev.warpwright.verify;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.predict.CounterTime;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.perf.LowerBounds;
import dev.warpwright.perf.RooflineBound;
import dev.warpwright.perf.order.OrderTraffic;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.KernelResources;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.LongFunction;

/**
 * What a launch will ask of the memories of a GPU. The simulator counts two small launches, and the
 * counters of the large one follow, for they are linear in its tiles and in K; those of networks:
 * {@link NetworkCounters}. What products read from the device's memory follows from the order of
 * their tiles ({@link OrderTraffic}).
 *
 * @param kernel its name
 * @param work tiles, or rows, that the launch has
 * @param counters by name, in the order of reports; in requests, wavefronts, sectors of 32 bytes or
 *     bytes
 * @param statements the same for each statement that has requests, in the order of the kernel's
 *     text
 * @param waves how often all SMs take a tile
 * @param lastWave how full the last wave is, 0 to 1
 * @param leastDramBytes that any kernel for this job reads and writes; not a number if the kernel
 *     does not say what its job is
 * @param least operations and bytes over the device's rates, whichever takes longer
 * @param time what the counters make the kernel take
 */
public record CounterPrediction(
    String kernel,
    long work,
    Map<String, Double> counters,
    List<OfStatement> statements,
    int waves,
    double lastWave,
    double leastDramBytes,
    RooflineBound least,
    CounterTime time) {
  /** Steps of K that the small launches of a rung take. */
  private static final long RUNG_DEPTH = 64;

  /** Steps of K in which blocks of a rung are thought to go on together. */
  private static final int RUNG_STEP = 16;

  /** A shape of which every rung's tile is a part. */
  private static final long RUNG = 256;

  /**
   * One statement's requests.
   *
   * @param line of the kernel's text
   * @param what it asks for, as {@code shared load}
   * @param units wavefronts of shared memory, or sectors of global memory
   * @param lost of them to bank conflicts, or to accesses that do not coalesce
   */
  public record OfStatement(
      int line, String statement, String what, double requests, double units, double lost) {}

  public CounterPrediction {
    counters = Collections.unmodifiableMap(new LinkedHashMap<>(counters));
    statements = List.copyOf(statements);
  }

  /**
   * A product in Kernel text.
   *
   * @param values of its scalars
   * @throws UserError if the kernel is no product, or a scalar is missing
   */
  public static CounterPrediction gemm(
      Kernel kernel, Map<String, Long> values, DeviceModel device) {
    BoundKernel bound = BoundKernel.of(kernel, values);
    if (!(bound.workload() instanceof BoundWorkload.Gemm gemm)) {
      throw new UserError(
          kernel.name() + ": counters are predicted for single GEMMs and for networks");
    }
    long m = gemm.c().extent(0);
    long n = gemm.c().extent(1);
    long k = gemm.a().extent(1);
    OrderTraffic.Tile tile = tile(kernel, values);
    long first = Math.min(k, 512);
    long second = Math.min(k, 1024);
    long clusters =
        Math.ceilDiv(m, (long) tile.m() * tile.clusterM())
            * Math.ceilDiv(n, (long) tile.n() * tile.clusterN());
    CountedLaunch counted =
        deeper(depth -> count(kernel, tile, depth, device), first, second, k, clusters);
    String order = kernel.attrs().getString("order");
    return ofProduct(
        bound.kernel(),
        counted,
        new Product(m, n, k, gemm.a().dtype(), gemm.c().dtype()),
        tile,
        order == null ? new BlockOrder.Row() : BlockOrder.parse(order),
        CountedKernel.resident(kernel) * device.sms(),
        device);
  }

  /**
   * A kernel that does not say what it computes, or whose shape is fixed, counted as a whole.
   *
   * @param values of its scalars
   */
  public static CounterPrediction whole(
      Kernel kernel, Map<String, Long> values, DeviceModel device) {
    if (kernel.attrs().getString("workload") != null && !kernel.scalars().isEmpty()) {
      // Buffers of the workspace may have a shape that depends on any of the scalars.
      return whole(BoundKernel.of(kernel, values).kernel(), Map.of(), device);
    }
    Map<String, Long> scalars = KernelData.scalars(kernel.params(), values, OptionalInt.empty());
    Arguments arguments =
        kernel.attrs().getString("workload") == null
            ? KernelData.random(kernel, scalars, 1)
            : KernelData.of(BoundKernel.of(kernel, values), 1);
    CountedLaunch counted =
        CountedLaunch.of(
            new GridInterpreter(kernel, GridOptions.counting(device.sms()))
                .count(arguments, CountedKernel.caches(kernel, device.sms(), device)));
    Map<Var, Long> byVar = new HashMap<>();
    kernel.scalars().forEach(s -> byVar.put(s.var(), scalars.getOrDefault(s.name(), 1L)));
    double blocks = CountedKernel.blocks(kernel, byVar);
    return whole(kernel, counted, blocks, (long) blocks, device.f16Tflops(), device);
  }

  /**
   * A launch that was counted as a whole.
   *
   * @param rate of the units that multiply, in 10¹² operations a second
   */
  static CounterPrediction whole(
      Kernel kernel,
      CountedLaunch counted,
      double blocks,
      long work,
      double rate,
      DeviceModel device) {
    int atOnce = CountedKernel.resident(kernel) * device.sms();
    int waves = (int) Math.ceil(blocks / atOnce);
    double least = counted.total("dramReadBytes") + counted.total("l2WriteBytes");
    double units = Math.ceil(blocks / device.sms()) * device.sms();
    CounterTime time = CountedKernel.time(counted, rate, least, blocks / units, device);
    return new CounterPrediction(
        kernel.name(),
        work,
        counted.totals(),
        counted.lines(),
        waves,
        blocks / atOnce - (waves - 1),
        Double.NaN,
        RooflineBound.UNKNOWN,
        time);
  }

  /** Kernels of one schedule for f32 GEMMs of any shape. */
  public interface OfShape {
    Kernel kernel(long m, long n, long k);
  }

  /** A rung of the ladder. */
  public static CounterPrediction rung(OfShape rung, long m, long n, long k, DeviceModel device) {
    Kernel whole = rung.kernel(m, n, k);
    long first = Math.min(k, RUNG_DEPTH);
    long second = Math.min(k, 2 * RUNG_DEPTH);
    double parts = (double) m / RUNG * n / RUNG;
    CountedLaunch counted =
        deeper(
            depth -> {
              Kernel kernel = rung.kernel(RUNG, RUNG, depth);
              return CountedLaunch.of(
                  new GridInterpreter(kernel, GridOptions.counting(device.sms()))
                      .count(
                          KernelData.random(kernel, Map.of(), 1),
                          CountedKernel.caches(kernel, device.sms(), device)));
            },
            first,
            second,
            k,
            parts);
    Kernel higher = rung.kernel(2 * m, n, k);
    boolean rowsFirst =
        CountedKernel.blocks(higher, ThreadAxis.BLOCK_X)
            > CountedKernel.blocks(whole, ThreadAxis.BLOCK_X);
    long rows = CountedKernel.blocks(whole, rowsFirst ? ThreadAxis.BLOCK_X : ThreadAxis.BLOCK_Y);
    long columns = CountedKernel.blocks(whole, rowsFirst ? ThreadAxis.BLOCK_Y : ThreadAxis.BLOCK_X);
    int fitting =
        device
            .target()
            .blocksPerSm(
                whole.threadsPerBlock(),
                KernelRegisters.of(whole, device.target()),
                KernelResources.of(whole).sharedBytes());
    return ofProduct(
        whole,
        counted,
        new Product(m, n, k, DType.F32, DType.F32),
        new OrderTraffic.Tile(
            (int) Math.ceilDiv(m, rows), (int) Math.ceilDiv(n, columns), RUNG_STEP),
        rowsFirst ? new BlockOrder.Column() : new BlockOrder.Row(),
        Math.max(1, fitting) * device.sms(),
        device);
  }

  /** What is multiplied. */
  private record Product(long m, long n, long k, DType operands, DType result) {
    double leastBytes() {
      return ((double) m * k + (double) k * n) * operands.bytes() + (double) m * n * result.bytes();
    }
  }

  /** {@code times} launches as deep as {@code k}, from two that are less deep. */
  private static CountedLaunch deeper(
      LongFunction<CountedLaunch> count, long first, long second, long k, double times) {
    CountedLaunch one = count.apply(first);
    if (second == first) {
      return one.times(times, one, 0);
    }
    double more = times * (k - first) / (second - first);
    return one.times(times - more, count.apply(second), more);
  }

  private static CounterPrediction ofProduct(
      Kernel kernel,
      CountedLaunch counted,
      Product product,
      OrderTraffic.Tile tile,
      BlockOrder order,
      int blocks,
      DeviceModel device) {
    OrderTraffic traffic =
        OrderTraffic.of(
            new OrderTraffic.Gemm(
                product.m, product.n, product.k, product.operands.bytes(), product.result.bytes()),
            tile,
            order,
            blocks,
            device.l2Bytes() / 2);
    CountedLaunch all =
        counted.with(
            "dramReadBytes", traffic.dramReadBytes() + CountedKernel.codeBytes(kernel, device));
    double words = LowerBounds.gemmWords(product.m, product.n, product.k, device.l2Bytes() / 2.0);
    double least = Math.max(words * product.operands.bytes(), product.leastBytes());
    double rate = rate(product.operands, device);
    double busy = (traffic.waves() - 1 + traffic.lastWave()) / traffic.waves();
    return new CounterPrediction(
        kernel.name(),
        Math.ceilDiv(product.m, (long) tile.m()) * Math.ceilDiv(product.n, (long) tile.n()),
        all.totals(),
        all.lines(),
        traffic.waves(),
        traffic.lastWave(),
        least,
        RooflineBound.of(
            2.0 * product.m * product.n * product.k, 1e12 * rate, least, device.dramGBs() * 1e9),
        CountedKernel.time(all, rate, product.leastBytes(), busy, device));
  }

  /** The rate of the units that multiply such operands, in 10¹² operations a second. */
  private static double rate(DType operands, DeviceModel device) {
    return switch (operands) {
      case BF16 -> device.bf16Tflops();
      case F16 -> device.f16Tflops();
      case F8E4M3, F8E5M2 -> device.fp8Tflops();
      case I8, U8 -> device.int8Tops();
      case F32, F64, BOOL, I32, U32, I64, U64, MBARRIER, HANDLE -> device.fp32Tflops();
    };
  }

  /** Counters of one cluster's tile. */
  private static CountedLaunch count(
      Kernel kernel, OrderTraffic.Tile tile, long k, DeviceModel device) {
    BoundKernel bound =
        BoundKernel.of(
            kernel,
            Map.of(
                "M", (long) tile.m() * tile.clusterM(),
                "N", (long) tile.n() * tile.clusterN(),
                "K", k));
    return CountedLaunch.of(
        new GridInterpreter(bound.kernel(), GridOptions.counting(device.sms()))
            .count(
                KernelData.of(bound, 1),
                CountedKernel.caches(bound.kernel(), device.sms(), device)));
  }

  /** As the attributes say; else as large as one block's. */
  private static OrderTraffic.Tile tile(Kernel kernel, Map<String, Long> values) {
    long m = kernel.attrs().getLong("tileM", 0);
    long n = kernel.attrs().getLong("tileN", 0);
    return new OrderTraffic.Tile(
        (int) (m > 0 ? m : CountedKernel.extent(kernel, values, "M")),
        (int) (n > 0 ? n : CountedKernel.extent(kernel, values, "N")),
        64,
        (int) kernel.attrs().getLong("clusterM", 1),
        (int) kernel.attrs().getLong("clusterN", 1));
  }
}
