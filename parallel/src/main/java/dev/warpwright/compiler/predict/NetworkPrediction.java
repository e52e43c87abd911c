package dev.warpwright.compiler.predict;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.perf.RooflineBound;
import dev.warpwright.perf.TileTraffic;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** What the analytic model expects of compiled networks before anything runs. */
public final class NetworkPrediction {
  /** What products of networks reach on a CPU of the rate of its units. */
  private static final double HOST_REACHED = 0.85;

  /** Rows of a tile of a chain, by warpgroups or by two warps or four. */
  private static final int CHAIN_ROWS = 64;

  private NetworkPrediction() {}

  /** A kernel of a network for so many rows, alone. */
  public static Prediction of(
      CompiledProgram network, CompiledKernel kernel, long rows, DeviceModel device) {
    Map<Var, Long> scalars = Map.of(network.network().rows().var(), rows);
    TileTraffic traffic = TileTraffic.of(kernel.tileProgram(), scalars);
    double rate = network.precision().peak(device);
    boolean simple = network.precision() == Precision.F32;
    // As many blocks as fit share the tiles of rows of a chain: its tile program has but one.
    double blocks =
        traffic.blocks() <= 1 ? Math.ceil((double) rows / CHAIN_ROWS) : traffic.blocks();
    double rounds = Math.ceil(blocks / device.sms());
    CounterTime time =
        CounterTime.of(
            new CounterTime.Work(
                simple ? traffic.multiplyAdds() : 0,
                simple ? 0 : traffic.multiplyAdds(),
                rate * 1e-12,
                0,
                traffic.tileBytes(),
                traffic.compulsoryBytes()),
            blocks / (rounds * device.sms()),
            device);
    return new Prediction(
        time.micros(),
        RooflineBound.of(
            flops(kernel, scalars),
            rate,
            // What stays in the kernel need not go to memory.
            Math.min(
                kernel.function().buffers().stream()
                    .mapToDouble(buffer -> TileTraffic.bytes(buffer, scalars))
                    .sum(),
                traffic.compulsoryBytes()),
            device.dramGBs() * 1e9));
  }

  /**
   * A whole network for so many rows: the times of its kernels one after the other; and no less
   * than all of its operations, or its inputs, outputs and weights.
   */
  public static Prediction of(CompiledProgram network, long rows, DeviceModel device) {
    Map<Var, Long> scalars = Map.of(network.network().rows().var(), rows);
    double micros = 0;
    double flops = 0;
    for (CompiledKernel kernel : network.kernels()) {
      micros += of(network, kernel, rows, device).micros();
      flops += flops(kernel, scalars);
    }
    double bytes = 0;
    for (Program.ProgramParam param : network.program().params()) {
      boolean once =
          param.role() == Program.Role.CONSTANT || network.network().ends().contains(param.param());
      bytes += once && param.param() instanceof Buffer b ? TileTraffic.bytes(b, scalars) : 0;
    }
    return new Prediction(
        micros,
        RooflineBound.of(flops, network.precision().peak(device), bytes, device.dramGBs() * 1e9));
  }

  /** A kernel of a network on so many threads of the CPU here. */
  public static Prediction onHost(
      CompiledProgram network, CompiledKernel kernel, long rows, int threads) {
    return onHost(flops(kernel, Map.of(network.network().rows().var(), rows)), threads);
  }

  /** A network on so many threads of the CPU here. */
  public static Prediction onHost(CompiledProgram network, long rows, int threads) {
    Map<Var, Long> scalars = Map.of(network.network().rows().var(), rows);
    return onHost(network.kernels().stream().mapToDouble(k -> flops(k, scalars)).sum(), threads);
  }

  private static Prediction onHost(double flops, int threads) {
    OptionalDouble rate = HostRate.flops(threads);
    if (rate.isEmpty()) {
      return Prediction.NONE;
    }
    return new Prediction(
        1e6 * flops / (HOST_REACHED * rate.getAsDouble()),
        RooflineBound.of(flops, rate.getAsDouble(), 0, Double.POSITIVE_INFINITY));
  }

  /** Operations of the sums of a kernel's function, a multiply-add counting as two. */
  private static double flops(CompiledKernel kernel, Map<Var, Long> scalars) {
    return 2 * sums(kernel.function().body(), scalars, 1);
  }

  private static double sums(Stmt s, Map<Var, Long> scalars, double times) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) ->
          stmts.stream().mapToDouble(inner -> sums(inner, scalars, times)).sum();
      case Stmt.For loop -> {
        double each = sums(loop.body(), scalars, times);
        // Of a tile program a loop may run as often as its block says.
        yield each == 0 ? 0 : each * ScalarEval.eval(loop.extent(), scalars);
      }
      case Stmt.Alloc alloc -> sums(alloc.body(), scalars, times);
      case Stmt.Let let -> sums(let.body(), scalars, times);
      case Stmt.Block block -> block.iterVars().stream().anyMatch(IterVar::isReduce) ? times : 0;
      case Stmt.If _,
          Stmt.While _,
          Stmt.TileCopy _,
          Stmt.TileFill _,
          Stmt.TileMma _,
          Stmt.TileMap _,
          Stmt.TileReduce _,
          Stmt.Flow _,
          Stmt.Store _,
          Stmt.Evaluate _,
          Stmt.Comment _ ->
          0;
    };
  }
}
