package dev.warpwright.cli.fusion;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cli.fusion.NetworkCandidates.Made;
import dev.warpwright.compiler.predict.CounterTime;
import dev.warpwright.compiler.predict.NetworkPrediction;
import dev.warpwright.compiler.predict.WideStrategy;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.perf.TileTraffic;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.api.KernelCounters;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.verify.Checks;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is known of an alternative without running it on a GPU; of several kernels, sums and the
 * most that one needs.
 *
 * @param predictedUs by the analytic model
 * @param dramBytes that must move between memory and chip
 * @param tileBytes that go to and from the SMs
 * @param registers of a thread; null where there is no compiler
 * @param spills bytes; null where there is no compiler
 * @param warps that are resident on an SM
 * @param occupancy as a part of what it can hold
 * @param conflicts cycles that bank conflicts cost; null where they were not counted
 */
record NetworkFacts(
    double predictedUs,
    double dramBytes,
    double tileBytes,
    @Nullable Integer registers,
    int sharedBytes,
    @Nullable Integer spills,
    int warps,
    double occupancy,
    @Nullable Double conflicts) {
  /** Registers that a kernel is thought to have where no compiler says. */
  private static final int UNKNOWN_REGISTERS = 128;

  /** Rows that a warpgroup's product has. */
  private static final int WARPGROUP_ROWS = 64;

  boolean isSpilled() {
    return spills != null && spills > 0;
  }

  /**
   * Of a way.
   *
   * @param expected of the way, microseconds; null where only its kernels tell
   */
  static NetworkFacts of(
      Made made,
      int rows,
      DeviceModel device,
      @Nullable Double conflicts,
      @Nullable Double expected) {
    GpuTarget target = device.target();
    Map<Var, Long> scalars = Map.of(made.compiled().network().rows().var(), (long) rows);
    double predicted = 0;
    double dram = 0;
    double tiles = 0;
    int shared = 0;
    int warps = Integer.MAX_VALUE;
    @Nullable Cubin cubin = cubin(made, target);
    Integer registers = null;
    Integer spills = null;
    for (CompiledKernel compiled : made.compiled().kernels()) {
      Kernel kernel = compiled.kernel();
      TileTraffic traffic = TileTraffic.of(compiled.tileProgram(), scalars);
      @Nullable Persistent persistent = Persistent.of(made.compiled(), compiled, rows);
      double moved =
          persistent == null
              ? traffic.tileBytes()
              : persistent.bytes(ofRows(made.compiled().network(), rows));
      predicted +=
          persistent == null
              ? NetworkPrediction.of(made.compiled(), compiled, rows, device).micros()
              : CounterTime.of(
                      new CounterTime.Work(
                          0,
                          persistent.multiplyAdds(made.compiled().network()),
                          made.compiled().precision().peak(device) * 1e-12,
                          0,
                          moved,
                          traffic.compulsoryBytes()),
                      persistent.busy(device),
                      device)
                  .micros();
      dram += traffic.compulsoryBytes();
      tiles += moved;
      int bytes = KernelResources.of(kernel).sharedBytes();
      shared = Math.max(shared, bytes);
      @Nullable ResourceUsage usage =
          cubin == null ? null : cubin.usage(CudaPrinter.functionName(kernel)).orElse(null);
      if (usage != null) {
        registers = Math.max(registers == null ? 0 : registers, usage.registers());
        spills = (spills == null ? 0 : spills) + usage.spillStores() + usage.spillLoads();
      }
      int threads = kernel.threadsPerBlock();
      int blocks =
          target.blocksPerSm(threads, usage == null ? UNKNOWN_REGISTERS : usage.registers(), bytes);
      if (persistent != null) {
        blocks = (int) Math.min(blocks, Math.ceilDiv(persistent.blocks, device.sms()));
      }
      warps = Math.min(warps, blocks * threads / GpuTarget.WARP_SIZE);
    }
    return new NetworkFacts(
        expected != null
            ? expected
            : made.compiled().fixedRows().isPresent() ? byLayer(made.compiled()) : predicted,
        dram,
        tiles,
        registers,
        shared,
        spills,
        warps,
        (double) warps * GpuTarget.WARP_SIZE / target.threadsPerSm(),
        conflicts);
  }

  /** What the models of the GEMMs' families expect. */
  private static double byLayer(CompiledProgram program) {
    try (GemmKernels products = GemmKernels.uncompiled((GpuTarget) program.target())) {
      return WideStrategy.of(program, products).getLast().micros();
    }
  }

  /** Bytes of all inputs and outputs. */
  private static double ofRows(NetworkFunction network, int rows) {
    double bytes = 0;
    for (Buffer buffer : network.ends()) {
      bytes += (double) rows * buffer.extent(1) * buffer.dtype().bytes();
    }
    return bytes;
  }

  /**
   * A grid of which each warpgroup takes one row tile after the other.
   *
   * @param tiles of all rows
   * @param weights bytes of all
   * @param resident bytes of those that a block reads once; the others it reads for each turn of
   *     its warpgroups
   */
  private record Persistent(
      long tiles, long blocks, long warpgroups, double weights, double resident) {
    /** Null for a grid that has a block for each tile. */
    static @Nullable Persistent of(CompiledProgram network, CompiledKernel compiled, int rows) {
      long warpgroups = compiled.tileProgram().attrs().getLong("consumers", 0);
      if (warpgroups == 0) {
        return null;
      }
      double weights = 0;
      for (Matmul product : network.network().products()) {
        weights += (double) product.n() * product.k() * product.weight().dtype().bytes();
      }
      return new Persistent(
          Math.ceilDiv(rows, WARPGROUP_ROWS),
          ScalarEval.eval(compiled.kernel().extent(ThreadAxis.BLOCK_X), Map.of()),
          warpgroups,
          weights,
          Math.min(weights, compiled.tileProgram().attrs().getLong("resident", 0)));
    }

    /** Of bytes to and from the SMs, with those of all rows. */
    double bytes(double ofRows) {
      return ofRows
          + resident * Math.min(blocks, tiles)
          + (weights - resident) * Math.ceilDiv(tiles, warpgroups);
    }

    double multiplyAdds(NetworkFunction network) {
      double each = 0;
      for (Matmul product : network.products()) {
        each += (double) product.n() * product.k();
      }
      return each * tiles * WARPGROUP_ROWS;
    }

    /** The part of the SMs' time in which they have tiles. */
    double busy(DeviceModel device) {
      double turns = Math.ceil((double) tiles / blocks);
      return tiles / (turns * blocks) * Math.min(1, (double) blocks / device.sms());
    }
  }

  private static @Nullable Cubin cubin(Made made, GpuTarget target) {
    if (CudaCompilers.system().isEmpty()) {
      return null;
    }
    try {
      return CudaCompilers.compile(CudaPrinter.print(made.program().program(), target), target);
    } catch (DeviceError e) {
      return null;
    }
  }

  /**
   * Cycles that bank conflicts cost: two small launches are simulated, and what the second has more
   * is what as many rows of the whole cost. Null if the simulator cannot execute a kernel, or the
   * program is for all of the rows, which are too many.
   */
  static @Nullable Double conflicts(Made made, int rows, DeviceModel device) {
    if (made.compiled().fixedRows().isPresent()) {
      return null;
    }
    int few = Math.min(rows, 256);
    int more = Math.min(rows, 2 * few);
    try {
      double first = lost(made, few, device);
      double second = more == few ? first : lost(made, more, device);
      return more == few ? first : first + (second - first) / (more - few) * (rows - few);
    } catch (UserError | SimulationError e) {
      return null;
    }
  }

  /** Of one launch, counted as a whole. */
  static double lost(Made made, int rows, DeviceModel device) {
    double lost = 0;
    for (KernelCounters counted :
        new ProgramInterpreter(
                made.compiled().program(), GridOptions.counting(device.sms()), Options.EXACT)
            .count(
                Checks.arguments(made.compiled(), rows, 1), kernel -> KernelCounters.Caches.H200)) {
      lost +=
          counted.sharedLoads().lost()
              + counted.sharedStores().lost()
              + counted.matrixLoads().lost()
              + counted.matrixStores().lost();
    }
    return lost;
  }
}
