package dev.warpwright.compiler.predict;

import dev.warpwright.compiler.bench.BoundKernel;
import dev.warpwright.compiler.bench.Workload;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.cost.CounterTime;
import dev.warpwright.cost.LeastTime;
import dev.warpwright.cost.LowerBounds;
import dev.warpwright.cost.TileTraffic;
import dev.warpwright.cost.analyze.GemmPrediction;
import dev.warpwright.cost.analyze.NumberType;
import dev.warpwright.cost.analyze.Part;
import dev.warpwright.cost.analyze.Tiling;
import dev.warpwright.families.Arithmetic;
import dev.warpwright.ir.BlockOrder;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarEval;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.model.function.Precision;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * What the analytic model expects of a kernel before anything runs, and what no kernel for the same
 * job can beat.
 *
 * @param micros by the model; not a number if it has nothing to go by
 */
public record Prediction(double micros, LeastTime least) {
  /** Of a kernel that does not say what it computes, or a device that is not in the catalogue. */
  public static final Prediction NONE = new Prediction(Double.NaN, LeastTime.UNKNOWN);

  /** What products of networks reach on a CPU of the rate of its units. */
  private static final double HOST_REACHED = 0.85;

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
                    .max(java.util.Comparator.comparingInt(DeviceModel::multiprocessors)));
  }

  /** A kernel whose attributes say what it computes. */
  public static Prediction of(BoundKernel bound, DeviceModel device) {
    Workload workload = bound.workload();
    DType operands = workload.operands();
    double rate = rate(operands, workload.arithmetic(), device);
    double bytes = workload.leastBytes();
    NumberType type = type(operands, workload.arithmetic());
    List<Part.GemmShape> shapes = new ArrayList<>();
    switch (workload) {
      case Workload.Gemm g -> {
        if (g.isPlain()) {
          double fast = ((double) device.l2MiB() * (1 << 20)) / operands.bytes();
          bytes =
              Math.max(bytes, LowerBounds.gemmWords(g.m(), g.n(), g.k(), fast) * operands.bytes());
        }
        add(shapes, g.m() * g.batch().count(), g.n(), g.k(), type);
      }
      case Workload.FfnGelu f -> {
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
        micros, LeastTime.of(workload.flops(), rate, bytes, device.dramGBs() * 1e9));
  }

  private static void add(
      List<Part.GemmShape> shapes, long m, long n, long k, @Nullable NumberType type) {
    if (type != null && k > 0) {
      shapes.add(new Part.GemmShape(m, n, k, type));
    }
  }

  /** Of one product; that of several is no order of the tiles of one. */
  private static BlockOrder order(BoundKernel bound) {
    String order = bound.kernel().attrs().getString("order");
    return order == null || !(bound.workload() instanceof Workload.Gemm)
        ? new BlockOrder.Row()
        : BlockOrder.parse(order);
  }

  /** As the attributes say, else the result shared out to the blocks of the grid. */
  private static Tiling tiling(Kernel kernel, Part.GemmShape shape) {
    long m = kernel.attrs().getLong("tileM", 0) * kernel.attrs().getLong("clusterM", 1);
    long n = kernel.attrs().getLong("tileN", 0) * kernel.attrs().getLong("clusterN", 1);
    if (m > 0 && n > 0) {
      return Tiling.of((int) m, (int) n);
    }
    long columns = blocks(kernel, ThreadAxis.BLOCK_X);
    long rows = blocks(kernel, ThreadAxis.BLOCK_Y);
    return Tiling.of(
        (int) Math.max(1, Math.ceilDiv(shape.m(), rows)),
        (int) Math.max(1, Math.ceilDiv(shape.n(), columns)));
  }

  private static long blocks(Kernel kernel, ThreadAxis axis) {
    return ScalarEval.eval(kernel.extent(axis), Map.of());
  }

  private static @Nullable NumberType type(DType operands, Arithmetic arithmetic) {
    return switch (operands) {
      case F32 -> arithmetic == Arithmetic.TF32 ? NumberType.TF32 : NumberType.F32;
      case F16 -> NumberType.F16;
      case BF16 -> NumberType.BF16;
      case F8E4M3, F8E5M2 -> NumberType.FP8;
      case I8, U8 -> NumberType.INT8;
      case BOOL, I32, U32, I64, U64, F64, MBARRIER, HANDLE -> null;
    };
  }

  /** Operations a second; infinite where the catalogue does not say. */
  private static double rate(DType operands, Arithmetic arithmetic, DeviceModel device) {
    NumberType type = type(operands, arithmetic);
    return type == null || !type.supportedBy(device) ? Double.POSITIVE_INFINITY : type.peak(device);
  }

  /** A kernel of a network for so many rows, alone. */
  public static Prediction of(
      CompiledProgram network, CompiledKernel kernel, long rows, DeviceModel device) {
    Map<Var, Long> scalars = Map.of(network.network().rows().var(), rows);
    TileTraffic traffic = TileTraffic.of(kernel.tileProgram(), scalars);
    double rate = rate(network.precision(), device);
    boolean simple = network.precision() == Precision.F32;
    double blocks = Math.max(1, traffic.blocks());
    double rounds = Math.ceil(blocks / device.multiprocessors());
    CounterTime time =
        CounterTime.of(
            new CounterTime.Work(
                simple ? traffic.multiplyAdds() : 0,
                simple ? 0 : traffic.multiplyAdds(),
                rate * 1e-12,
                0,
                traffic.tileBytes(),
                traffic.compulsoryBytes()),
            blocks / (rounds * device.multiprocessors()),
            device);
    return new Prediction(
        time.micros(),
        LeastTime.of(
            flops(kernel, scalars),
            rate,
            TileTraffic.of(kernel.function(), scalars).compulsoryBytes(),
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
      bytes += param.param() instanceof Buffer b ? TileTraffic.bytes(b, scalars) : 0;
    }
    return new Prediction(
        micros,
        LeastTime.of(flops, rate(network.precision(), device), bytes, device.dramGBs() * 1e9));
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
      return NONE;
    }
    return new Prediction(
        1e6 * flops / (HOST_REACHED * rate.getAsDouble()),
        LeastTime.of(flops, rate.getAsDouble(), 0, Double.POSITIVE_INFINITY));
  }

  private static double rate(Precision precision, DeviceModel device) {
    return 1e12
        * switch (precision) {
          case F32 -> device.fp32Tflops();
          case TF32 -> device.tf32Tflops();
          case F16 -> device.f16Tflops();
          case BF16 -> device.bf16Tflops();
        };
  }

  /** Operations of the sums of a kernel's function, a multiply-add counting as two. */
  private static double flops(CompiledKernel kernel, Map<Var, Long> scalars) {
    return 2 * sums(kernel.function().body(), scalars, 1);
  }

  private static double sums(Stmt s, Map<Var, Long> scalars, double times) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) ->
          stmts.stream().mapToDouble(inner -> sums(inner, scalars, times)).sum();
      case Stmt.For loop ->
          sums(loop.body(), scalars, times * ScalarEval.eval(loop.extent(), scalars));
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
