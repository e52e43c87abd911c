package dev.warpwright.verify.shapes;

import dev.warpwright.base.UserError;
import dev.warpwright.families.GemmTiles;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.Kernel;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.space.Point;
import dev.warpwright.space.Rejected;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.verify.CheckOptions;
import dev.warpwright.verify.CheckReport;
import dev.warpwright.verify.CheckSubject;
import dev.warpwright.verify.Checks;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * The configuration of a GEMM's kernel, applied to a GEMM that is small enough for the simulator
 * and special in the same way: its extents leave the same remainders behind whole tiles and steps,
 * the same powers of two divide them, tiles have a neighbour each way where they had one, rings of
 * stages come round, a tile's steps have as many parts, and blocks that took several tiles do.
 *
 * @param workload the small GEMM
 * @param kernel of the same decisions
 */
public record ReducedGemm(GemmWorkload workload, GpuTarget target, Kernel kernel) {
  /** Powers of two up to here are what vectors, TMA copies and swizzles ask for. */
  private static final long ALIGNED = 64;

  /** Extents that are tried along each side. */
  private static final int TRIED = 6;

  /** Steps of a part of a tile that any family may ask for. */
  private static final int MOST_STEPS = 8;

  /** Blocks that run at the same time. */
  private static final int RESIDENT = 3;

  /** Multiply-adds up to which there is time for a second order of blocks and warps. */
  private static final double FEW = 1 << 20;

  /** Multiply-adds that take seconds. */
  private static final double LONG = 1 << 22;

  /**
   * Reduces a GEMM; empty if its configuration fits no smaller one.
   *
   * @param sms of the device for which the point was chosen
   * @throws UserError if no family of the target has such points
   */
  public static Optional<ReducedGemm> of(
      GemmWorkload workload, GpuTarget target, int sms, Point point) {
    GemmTiles tiles =
        GemmSpace.sketch(workload, target, sms, point).tiles(GemmSpace.decided(point));
    List<Long> rows = extents(workload.m(), tiles.m(), tiles.clusterM());
    List<Long> columns = extents(workload.n(), tiles.n(), tiles.clusterN());
    List<GemmWorkload> smaller = new ArrayList<>();
    long elements = rows.getFirst() * columns.getFirst();
    for (long k : depths(workload.k(), tiles, elements)) {
      for (long m : rows) {
        for (long n : columns) {
          smaller.add(with(workload, m, n, k));
        }
      }
    }
    smaller.sort(Comparator.comparingDouble(GemmWorkload::flops));
    boolean turns = tiles.turns() && tiles.clusters(workload) > tiles.atOnce(sms);
    for (GemmWorkload small : smaller) {
      for (int few : devices(tiles, small, sms, turns)) {
        Optional<Kernel> kernel = kernel(small, target, few, point);
        if (kernel.isPresent()) {
          return Optional.of(new ReducedGemm(small, target, kernel.get()));
        }
      }
    }
    return Optional.empty();
  }

  private static GemmWorkload with(GemmWorkload w, long m, long n, long k) {
    return new GemmWorkload(m, n, k, w.precision(), w.result(), w.layout(), w.epilogue());
  }

  /** Numbers of SMs: so few that blocks take turns where they did, else so many that none does. */
  private static int[] devices(GemmTiles tiles, GemmWorkload small, int sms, boolean turns) {
    long clusters = tiles.clusters(small);
    if (!tiles.turns()) {
      return new int[] {sms};
    }
    // Fewer hold no cluster, and their kernels are not persistent.
    int least = Math.toIntExact(tiles.clusterM() * tiles.clusterN());
    int most = (int) Math.min(sms, clusters * least);
    return turns
        ? IntStream.iterate(most, few -> few >= least, few -> few - 1)
            .filter(few -> tiles.atOnce(few) < clusters)
            .limit(TRIED)
            .toArray()
        : IntStream.concat(
                IntStream.rangeClosed(least, sms)
                    .filter(few -> tiles.atOnce(few) >= clusters)
                    .limit(TRIED),
                IntStream.of(sms))
            .toArray();
  }

  /** Extents like one of M or N, from the least that has two tiles if there are two. */
  private static List<Long> extents(long extent, long tile, long cluster) {
    return alike(extent, tile * cluster, Math.min(extent, tile + 1), TRIED);
  }

  /**
   * Lengths like K for which a ring comes round, and each part has two steps. Where each part has a
   * ring of its own, one comes round unless that takes long.
   *
   * @param elements of the result
   */
  private static List<Long> depths(long k, GemmTiles tiles, long elements) {
    long round = tiles.parts() * tiles.stages();
    boolean takesLong = elements * round * tiles.k() > LONG;
    long steps =
        Math.max(tiles.persistent() || takesLong ? tiles.stages() : round, 2 * tiles.parts());
    long least = steps * tiles.k() + 1;
    return alike(k, tiles.k(), Math.min(k, least), TRIED + MOST_STEPS * tiles.parts());
  }

  /** Extents from {@code least} on that differ by multiples of a unit and are aligned alike. */
  private static List<Long> alike(long extent, long unit, long least, long most) {
    List<Long> alike = new ArrayList<>();
    long first = extent - (extent - least) / unit * unit;
    for (long length = first; length < extent && alike.size() < most; length += unit) {
      if (aligned(length) == aligned(extent)) {
        alike.add(length);
      }
    }
    if (alike.size() < most) {
      alike.add(extent);
    }
    return alike;
  }

  private static long aligned(long extent) {
    return Math.min(ALIGNED, Long.lowestOneBit(extent));
  }

  /** The kernel of a point for a GEMM; empty if it does not fit. */
  private static Optional<Kernel> kernel(
      GemmWorkload workload, GpuTarget target, int sms, Point point) {
    SameDecisions decisions = new SameDecisions(point);
    try {
      Supplier<Kernel> kernel =
          GemmSpace.sketch(workload, target, sms, point).plan(decisions).kernel();
      return decisions.areSame() ? Optional.of(kernel.get()) : Optional.empty();
    } catch (Rejected | UserError e) {
      return Optional.empty();
    }
  }

  /** {@code 129x64x200}. */
  public String text() {
    return String.format(Locale.ROOT, "%dx%dx%d", workload.m(), workload.n(), workload.k());
  }

  /**
   * The first of what the simulator finds; empty for nothing. Several blocks run at a time; blocks
   * and warps go in order, and where that takes a moment, backwards too.
   *
   * @param seed of the random data
   */
  public Optional<Finding> finding(long seed) {
    int orders = workload.flops() <= 2 * FEW ? 2 : 1;
    CheckOptions options =
        new CheckOptions(
            seed, orders, OptionalInt.of(RESIDENT), Map.of(), OptionalInt.empty(), target);
    return Checks.check(new CheckSubject.OfKernel(kernel), options).stream()
        .map(CheckReport::findings)
        .flatMap(List::stream)
        .findFirst();
  }
}
