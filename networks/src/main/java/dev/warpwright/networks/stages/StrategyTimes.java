package dev.warpwright.networks.stages;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Var;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.perf.TileTraffic;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Optional;

/**
 * What the families of whole networks are expected to take, in microseconds, told by a network's
 * shapes alone: before any kernel is made, to know which are worth making. Constants are of an H200
 * (docs/decisions/0042-a-gemm-a-layer.md has the figures behind them).
 *
 * @param network what is computed
 * @param precision of its GEMMs
 * @param device where it runs
 * @param rows how many
 */
public record StrategyTimes(
    NetworkFunction network, Precision precision, DeviceModel device, long rows) {
  private static final double LAUNCH_US = 3;

  /** The same of one of several short GEMMs: six of 1024 × 256 × 256 take 13.6 µs. */
  private static final double LAYER_US = 2;

  /** Where their launches overlap: two of 130 × 256 × 256 take 3.26 µs, four of 64 rows 6.33. */
  private static final double OVERLAPPED_US = 1.6;

  /** What GEMMs with long sums reach of the device's rate, and for how long a sum half of it. */
  private static final double GEMM_REACHED = 0.78;

  private static final double GEMM_HALF = 180;

  private static final double SIMT_REACHED = 0.72;
  private static final double SIMT_HALF = 24;

  /** What copies reach, and formulas by themselves, element by element. */
  private static final double MEMORY_REACHED = 0.85;

  private static final double FORMULA_REACHED = 0.35;

  /** Calls of functions in a clock of an SM. */
  private static final int CALLS_PER_CLOCK = 16;

  /**
   * What epilogues reach of that, behind the sums of a tile: four GEMMs of 8192 × 160 × 160 with
   * SiLU take 14.6 µs, eleven of 4096 rows and 240 columns 48.7, six of 131072 rows and 208 columns
   * 331.
   */
  private static final double CALLS_REACHED = 0.4;

  /** What blocks reach at most that pass activations through shared memory. */
  private static final double SHARED_REACHED = 0.4;

  /** What register chaining reaches of the tensor cores' rate: 0.63 to 0.85. */
  private static final double CHAIN_REACHED = 0.7;

  /** From a layer's product to the next one's, of one row tile alone. */
  private static final double CHAIN_LAYER_US = 0.4;

  private static final int CHAIN_ROWS = 64;

  /** What tiles of registers reach of the multipliers, by their reads of shared memory. */
  private static final double TILES_REACHED = 0.6;

  /** What warps reach of the multipliers that wait for no other: each reads all it multiplies. */
  private static final double WARPS_REACHED = 0.72;

  /** Bytes of weights that a block of a chain takes in, in a microsecond, by TMA copies. */
  private static final double CHAIN_BYTES_PER_US = 80_000;

  /** Operations in a clock of an SM whose blocks pass activations through shared memory. */
  private static final double SHARED_16_BITS = 715;

  private static final double SHARED_TF32 = 390;
  private static final double SHARED_F32 = 95;

  /** Bytes of weights that a block takes in, in a microsecond, slice after slice. */
  private static final double BLOCK_BYTES_PER_US = 16_000;

  /**
   * Of a network for so many rows, on the largest device of a target; empty where there is no such
   * device, or it has no rate for the precision.
   */
  public static Optional<StrategyTimes> of(
      NetworkFunction network, Precision precision, GpuTarget target, long rows) {
    return DeviceCatalogue.largest(target)
        .filter(precision::supportedBy)
        .map(device -> new StrategyTimes(network, precision, device, rows));
  }

  private double peak() {
    return precision.peak(device) * 1e-6;
  }

  /** Microseconds of bytes between memory and chip. */
  private double moved(double bytes) {
    return bytes / (device.dramGBs() * 1e3 * MEMORY_REACHED);
  }

  private java.util.Map<Var, Long> scalars() {
    return java.util.Map.of(network.rows().var(), rows);
  }

  private double ends() {
    double bytes = 0;
    for (Buffer buffer : network.ends()) {
      bytes += TileTraffic.bytes(buffer, scalars());
    }
    return bytes;
  }

  private double weights() {
    double bytes = 0;
    for (Matmul product : network.products()) {
      bytes += (double) product.n() * product.k() * product.weight().dtype().bytes();
    }
    return bytes;
  }

  /** Operations of so many rows. */
  private double flops(double of) {
    return 2 * of * network.products().stream().mapToDouble(p -> (double) p.n() * p.k()).sum();
  }

  /** Rows carried in registers of warps or warpgroups. */
  public double registers() {
    double tile =
        network.products().size() * CHAIN_LAYER_US
            + flops(Math.min(rows, CHAIN_ROWS)) * device.sms() / peak()
            + LAUNCH_US / 2;
    tile = Math.max(tile, weights() / CHAIN_BYTES_PER_US);
    double all = Math.max(moved(ends() + weights()), flops(rows) / (CHAIN_REACHED * peak()));
    return Math.max(tile, all);
  }

  /** Through shared memory, each thread with a tile of accumulators. */
  public double tiles() {
    double all = Math.max(moved(ends() + weights()), flops(rows) / (TILES_REACHED * peak()));
    return LAUNCH_US / 2 + Math.max(all, weights() / BLOCK_BYTES_PER_US);
  }

  /** Through shared memory of each warp's own, by fma. */
  public double warps() {
    double all = Math.max(moved(ends() + weights()), flops(rows) / (WARPS_REACHED * peak()));
    return LAUNCH_US / 2 + Math.max(all, weights() / BLOCK_BYTES_PER_US);
  }

  /** Through shared memory, with whatever tiles fit. */
  public double shared() {
    double perClock =
        switch (precision) {
          case F32 -> SHARED_F32;
          case TF32 -> SHARED_TF32;
          case F16, F16_ACCUMULATORS, BF16, E4M3, E5M2, INT8, UINT8, F64 -> SHARED_16_BITS;
        };
    double rate =
        Math.min(SHARED_REACHED * peak(), perClock * device.sms() * (double) device.boostMhz());
    double all = Math.max(moved(ends() + weights()), flops(rows) / rate);
    return LAUNCH_US / 2 + Math.max(all, weights() / BLOCK_BYTES_PER_US);
  }

  /**
   * A GEMM for each layer.
   *
   * @param layers what is launched, a part of the network each
   */
  public double layers(List<StageGroup> layers) {
    boolean simt = precision == Precision.F32;
    double rate = (simt ? SIMT_REACHED : GEMM_REACHED) * peak();
    double half = simt ? SIMT_HALF : GEMM_HALF;
    double micros = 0;
    for (StageGroup layer : layers) {
      if (!isCopy(layer.stages())) {
        double bytes = 0;
        for (Buffer buffer : layer.func().buffers()) {
          bytes += TileTraffic.bytes(buffer, scalars());
        }
        double computed = 0;
        for (Matmul product : layer.products()) {
          computed += 2.0 * rows * product.n() * (product.k() + half) / rate;
        }
        double reached = layer.products().isEmpty() ? FORMULA_REACHED : MEMORY_REACHED;
        micros += layer.products().isEmpty() ? LAUNCH_US : gemmLaunch();
        micros += Math.max(moved(bytes) * MEMORY_REACHED / reached, computed);
        micros += layer.products().isEmpty() ? 0 : called(layer);
      }
    }
    return micros;
  }

  /** Microseconds of a GEMM's launch among others. */
  private double gemmLaunch() {
    return device.target().hasHopper() ? OVERLAPPED_US : LAYER_US;
  }

  /** Microseconds in which the functions of an epilogue are computed. */
  private double called(StageGroup layer) {
    double calls = 0;
    for (Stage stage : layer.stages()) {
      if (stage instanceof Map map) {
        calls += (double) rows * map.to().extent(1) * FormulaWork.of(layer, map).functions();
      }
    }
    double clocks = calls / (CALLS_PER_CLOCK * (double) device.sms() * CALLS_REACHED);
    return clocks / device.boostMhz();
  }

  /** A copy of inputs as they are, which GEMMs do without. */
  private static boolean isCopy(List<Stage> stages) {
    return stages.size() == 1
        && stages.getFirst() instanceof Load load
        && load.from().dtype() == load.to().dtype()
        && load.from().extent(1) == load.to().extent(1);
  }
}
