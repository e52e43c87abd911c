package dev.warpwright.measure.tuning;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.families.GemmTiles;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.perf.order.OrderTraffic;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.api.KernelCounters;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.KernelResources;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What is known of a product's kernels without running them on a GPU. */
final class KernelFacts {
  /** Steps along K that are simulated at most. */
  private static final long LOOPED = 3;

  private final GemmWorkload workload;
  private final DeviceModel model;

  /** The kernels of candidates, which take a while to make. */
  private final Map<Point, BoundKernel> made = new HashMap<>();

  /** What each kernel uses, by its text. */
  private final Map<String, ResourceUsage> compiled = new HashMap<>();

  KernelFacts(GemmWorkload workload, DeviceModel model) {
    this.workload = workload;
    this.model = model;
  }

  /**
   * Compiles the kernels of candidates in one call, whose facts are then asked for one by one: most
   * of nvcc's time goes before it comes to a kernel. Those that turn out to be impossible are left
   * out.
   */
  void compile(List<Candidate> candidates) {
    if (CudaCompilers.system().isEmpty()) {
      return;
    }
    Map<String, Kernel> kernels = new LinkedHashMap<>();
    for (Candidate candidate : candidates) {
      try {
        Kernel kernel = bound(candidate).kernel();
        kernels.putIfAbsent(CudaPrinter.print(kernel, model.target()), kernel);
      } catch (RuntimeException e) {
        // A point that turns out to have no kernel: whoever asks for its facts is told.
      }
    }
    List<String> sources = List.copyOf(kernels.keySet());
    List<Kernel> named = new ArrayList<>();
    for (Kernel kernel : kernels.values()) {
      named.add(kernel.withName("kernel" + named.size()));
    }
    try {
      Cubin together =
          CudaCompilers.compile(CudaPrinter.print(named, model.target()), model.target());
      for (int i = 0; i < named.size(); i++) {
        String source = sources.get(i);
        together
            .usage(CudaPrinter.functionName(named.get(i)))
            .ifPresent(usage -> compiled.put(source, usage));
      }
    } catch (DeviceError e) {
      // One of them does not compile: each is tried alone.
    }
  }

  /**
   * The facts of a candidate.
   *
   * @throws dev.warpwright.space.Rejected if its kernel turns out to be impossible
   */
  Explanation.Facts of(Candidate candidate) {
    Kernel kernel = bound(candidate).kernel();
    String source = CudaPrinter.print(kernel, model.target());
    Optional<ResourceUsage> usage = usage(kernel, source);
    @Nullable GemmTiles tiles = tiles(workload, model.sms(), candidate.point());
    @Nullable OrderTraffic traffic =
        tiles == null ? null : traffic(tiles, order(candidate.point()), kernel);
    return new Explanation.Facts(
        traffic == null ? Double.NaN : traffic.dramBytes(),
        traffic == null ? Double.NaN : traffic.l2ReadBytes() + traffic.l2WriteBytes(),
        tiles == null ? null : conflicts(candidate.point(), tiles),
        usage.map(ResourceUsage::registers).orElse(null),
        KernelResources.of(kernel).sharedBytes(),
        usage.map(u -> u.spillStores() + u.spillLoads()).orElse(null),
        SourceHash.of(source));
  }

  private BoundKernel bound(Candidate candidate) {
    BoundKernel bound = made.get(candidate.point());
    if (bound == null) {
      bound = BoundKernel.of(candidate.kernel().get(), candidate.values());
      made.put(candidate.point(), bound);
    }
    return bound;
  }

  /** How a point cuts a GEMM into tiles; null for kernels without a ring of them. */
  private @Nullable GemmTiles tiles(GemmWorkload gemm, int sms, Point point) {
    GemmTiles tiles = GemmSpace.tiles(gemm, model.target(), sms, point);
    return tiles.stages() > 1 ? tiles : null;
  }

  private static BlockOrder order(Point point) {
    String order = point.option("order");
    return order == null ? new BlockOrder.Row() : BlockOrder.parse(order);
  }

  private OrderTraffic traffic(GemmTiles tiles, BlockOrder order, Kernel kernel) {
    int resident = (int) Math.max(1, kernel.attrs().getLong("minBlocks", 1));
    return OrderTraffic.of(
        new OrderTraffic.Gemm(
            workload.m(),
            workload.n(),
            workload.k(),
            workload.operands().bytes(),
            workload.result().bytes()),
        new OrderTraffic.Tile(
            Math.toIntExact(tiles.m()),
            Math.toIntExact(tiles.n()),
            Math.toIntExact(tiles.k()),
            Math.toIntExact(tiles.clusterM()),
            Math.toIntExact(tiles.clusterN())),
        order,
        resident * model.sms(),
        // Each half of the cache serves its SMs.
        model.l2Bytes() / 2);
  }

  /**
   * Cycles that bank conflicts cost: one cluster's tile is simulated for two steps along K and for
   * three, since a single step may be another kernel, without a loop; each tile of the whole
   * product costs as much.
   */
  private @Nullable Double conflicts(Point point, GemmTiles tiles) {
    double clusters = tiles.clusters(workload);
    long steps = Math.ceilDiv(workload.k(), tiles.k());
    if (steps <= LOOPED) {
      Double all = conflicts(point, tiles, steps * tiles.k());
      return all == null ? null : clusters * all;
    }
    Double two = conflicts(point, tiles, 2 * tiles.k());
    Double three = two == null ? null : conflicts(point, tiles, LOOPED * tiles.k());
    Double each = two == null || three == null ? null : inSteps(two, three, steps);
    return each == null ? null : clusters * each;
  }

  /**
   * What so many steps cost, of which two and three are known; null where a further step would cost
   * less than nothing, so that these do not tell of others.
   */
  static @Nullable Double inSteps(double two, double three, long steps) {
    return three < two ? null : Double.valueOf(two + (three - two) * (steps - 2));
  }

  private static boolean isSameTile(GemmTiles one, GemmTiles other) {
    return one.m() == other.m()
        && one.n() == other.n()
        && one.k() == other.k()
        && one.clusterM() == other.clusterM()
        && one.clusterN() == other.clusterN();
  }

  private @Nullable Double conflicts(Point point, GemmTiles tiles, long k) {
    GemmWorkload small =
        new GemmWorkload(
            tiles.m() * tiles.clusterM(),
            tiles.n() * tiles.clusterN(),
            k,
            workload.precision(),
            workload.result(),
            workload.layout(),
            workload.epilogue());
    int sms = Math.toIntExact(tiles.clusterM() * tiles.clusterN());
    try {
      Space.Drawn drawn =
          GemmSpace.of(small, model.target(), sms, point).replay(point.with("order", "row"));
      if (drawn.candidate() == null
          || !isSameTile(tiles, GemmSpace.tiles(small, model.target(), sms, drawn.point()))) {
        return null;
      }
      BoundKernel bound =
          BoundKernel.of(drawn.candidate().kernel().get(), drawn.candidate().values());
      KernelCounters counted =
          new GridInterpreter(bound.kernel(), GridOptions.counting(sms))
              .count(KernelData.of(bound, 1), KernelCounters.Caches.H200);
      return (double)
          (counted.sharedLoads().lost()
              + counted.sharedStores().lost()
              + counted.matrixLoads().lost()
              + counted.matrixStores().lost());
    } catch (UserError | SimulationError e) {
      return null;
    }
  }

  private Optional<ResourceUsage> usage(Kernel kernel, String source) {
    ResourceUsage known = compiled.get(source);
    if (known != null || CudaCompilers.system().isEmpty()) {
      return Optional.ofNullable(known);
    }
    try {
      return CudaCompilers.compile(source, model.target()).usage(CudaPrinter.functionName(kernel));
    } catch (DeviceError e) {
      return Optional.empty();
    }
  }
}
