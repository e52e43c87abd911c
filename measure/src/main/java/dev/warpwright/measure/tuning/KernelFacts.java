package dev.warpwright.measure.tuning;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
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
    @Nullable Shape shape = Shape.of(candidate.point());
    @Nullable OrderTraffic traffic = shape == null ? null : traffic(shape, kernel);
    return new Explanation.Facts(
        traffic == null ? Double.NaN : traffic.dramBytes(),
        traffic == null ? Double.NaN : traffic.l2ReadBytes() + traffic.l2WriteBytes(),
        shape == null ? null : conflicts(candidate.point(), shape),
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

  /** Tiles, as the decisions of the families name them. */
  private record Shape(int m, int n, int k, int clusterM, int clusterN, BlockOrder order) {
    /** Null for kernels without tiles. */
    static @Nullable Shape of(Point point) {
      BlockOrder order = BlockOrder.parse(option(point, "order", "row"));
      if (point.option("tileK") == null) {
        return null;
      }
      int k = number(point, "tileK");
      if (point.option("lanesM") != null) {
        // Plain threads: elements of a thread, threads of a warp, warps.
        int lanes = number(point, "lanesM");
        int m = number(point, "rows") * lanes * number(point, "warpsM");
        int n = number(point, "columns") * 32 / lanes * number(point, "warpsN");
        return new Shape(m, n, k, 1, 1, order);
      }
      if (point.option("tileM") == null) {
        boolean swapAb = "yes".equals(point.option("swapped"));
        return new Shape(
            number(point, swapAb ? "columns" : "rows"),
            number(point, swapAb ? "rows" : "columns"),
            k,
            number(point, "clusterM"),
            number(point, "clusterN"),
            order);
      }
      String cluster = option(point, "cluster", "1x1");
      int cross = cluster.indexOf('x');
      return new Shape(
          number(point, "tileM"),
          number(point, "tileN"),
          k,
          Integer.parseInt(cluster.substring(0, cross)),
          Integer.parseInt(cluster.substring(cross + 1)),
          order);
    }

    private static int number(Point point, String name) {
      return Integer.parseInt(option(point, name, "1"));
    }

    boolean sameTile(@Nullable Shape other) {
      return other != null
          && m == other.m
          && n == other.n
          && k == other.k
          && clusterM == other.clusterM
          && clusterN == other.clusterN;
    }

    private static String option(Point point, String name, String otherwise) {
      String option = point.option(name);
      return option == null ? otherwise : option;
    }
  }

  private OrderTraffic traffic(Shape shape, Kernel kernel) {
    int resident = (int) Math.max(1, kernel.attrs().getLong("minBlocks", 1));
    return OrderTraffic.of(
        new OrderTraffic.Gemm(
            workload.m(),
            workload.n(),
            workload.k(),
            workload.operands().bytes(),
            workload.result().bytes()),
        new OrderTraffic.Tile(shape.m, shape.n, shape.k, shape.clusterM, shape.clusterN),
        shape.order,
        resident * model.sms(),
        // Each half of the cache serves its SMs.
        model.l2Bytes() / 2);
  }

  /**
   * Cycles that bank conflicts cost: one cluster's tile is simulated for two steps along K and for
   * three, since a single step may be another kernel, without a loop; each tile of the whole
   * product costs as much.
   */
  private @Nullable Double conflicts(Point point, Shape shape) {
    double clusters =
        (double) Math.ceilDiv(workload.m(), (long) shape.m * shape.clusterM)
            * Math.ceilDiv(workload.n(), (long) shape.n * shape.clusterN);
    long steps = Math.ceilDiv(workload.k(), (long) shape.k);
    if (steps <= LOOPED) {
      Double all = conflicts(point, shape, steps * shape.k);
      return all == null ? null : clusters * all;
    }
    Double two = conflicts(point, shape, 2L * shape.k);
    Double three = two == null ? null : conflicts(point, shape, LOOPED * shape.k);
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

  private @Nullable Double conflicts(Point point, Shape shape, long k) {
    GemmWorkload small =
        new GemmWorkload(
            (long) shape.m * shape.clusterM,
            (long) shape.n * shape.clusterN,
            k,
            workload.precision(),
            workload.result(),
            workload.layout(),
            workload.epilogue());
    int sms = shape.clusterM * shape.clusterN;
    try {
      Space.Drawn drawn =
          GemmSpace.of(small, model.target(), sms, point).replay(point.with("order", "row"));
      if (drawn.candidate() == null || !shape.sameTile(Shape.of(drawn.point()))) {
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
