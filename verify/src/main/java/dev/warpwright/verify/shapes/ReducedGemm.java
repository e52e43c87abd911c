package dev.warpwright.verify.shapes;

import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Point;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.Space;
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
import java.util.Set;
import java.util.stream.LongStream;

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

  private static final String WHOLE = new WorkDivision.Whole().text();

  /**
   * Blocks in residence, where clusters are large: the first option is all that there is room for.
   */
  private static final String RESIDENCE = "resident";

  /** Decisions about grids: a smaller one has fewer options, the last of which is most alike. */
  private static final Set<String> OF_GRIDS = Set.of("order", "panel", RESIDENCE);

  /**
   * Reduces a GEMM; empty if its configuration fits no smaller one.
   *
   * @param sms of the device for which the point was chosen
   */
  public static Optional<ReducedGemm> of(
      GemmWorkload workload, GpuTarget target, int sms, Point point) {
    GemmTiles tiles = GemmTiles.of(point, workload);
    List<GemmWorkload> smaller = new ArrayList<>();
    for (long k : depths(workload.k(), tiles, takesTurns(point))) {
      for (long m : extents(workload.m(), tiles.m(), tiles.clusterM())) {
        for (long n : extents(workload.n(), tiles.n(), tiles.clusterN())) {
          smaller.add(with(workload, m, n, k));
        }
      }
    }
    smaller.sort(Comparator.comparingDouble(GemmWorkload::flops));
    boolean turns = takesTurns(point) && tiles.clusters(workload) > tiles.atOnce(sms);
    for (GemmWorkload small : smaller) {
      for (long few : devices(tiles, small, sms, turns, takesTurns(point))) {
        Optional<Kernel> kernel = kernel(small, target, Math.toIntExact(few), point);
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

  /** Whether the number of SMs decides which tiles a block takes. */
  private static boolean takesTurns(Point point) {
    String division = point.option("division");
    String panel = point.option("panel");
    return "yes".equals(point.option("persistent"))
        || panel != null && !panel.equals("1")
        || division != null && WorkDivision.parse(division) instanceof WorkDivision.Stream;
  }

  /** Numbers of SMs: so few that blocks take turns where they did, else so many that none does. */
  private static long[] devices(
      GemmTiles tiles, GemmWorkload small, int sms, boolean turns, boolean counts) {
    long clusters = tiles.clusters(small);
    if (!counts) {
      return new long[] {sms};
    }
    return turns
        ? LongStream.iterate(Math.min(sms, clusters), few -> few > 0, few -> few - 1)
            .filter(few -> tiles.atOnce(few) < clusters)
            .limit(TRIED)
            .toArray()
        : LongStream.concat(
                LongStream.rangeClosed(1, sms)
                    .filter(few -> tiles.atOnce(few) >= clusters)
                    .limit(TRIED),
                LongStream.of(sms))
            .toArray();
  }

  /** Extents like one of M or N, from the least that has two tiles if there are two. */
  private static List<Long> extents(long extent, long tile, long cluster) {
    return alike(extent, tile * cluster, Math.min(extent, tile + 1), TRIED);
  }

  /** Lengths like K for which a ring comes round, in one of the parts if each has its own. */
  private static List<Long> depths(long k, GemmTiles tiles, boolean turns) {
    long rings = turns ? 1 : tiles.parts();
    long least = rings * tiles.stages() * tiles.k() + 1;
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
    Space.Drawn drawn = GemmSpace.of(workload, target, sms).draw(decisions(point));
    if (drawn.candidate() == null || !isSame(drawn.point(), point)) {
      return Optional.empty();
    }
    try {
      return Optional.of(drawn.candidate().kernel().get());
    } catch (Rejected e) {
      return Optional.empty();
    }
  }

  private static boolean isSame(Point drawn, Point point) {
    Point rest = point;
    for (String name : OF_GRIDS) {
      rest = rest.without(name);
    }
    if (WHOLE.equals(rest.option("division"))) {
      // Not asked where there is nothing else.
      rest = rest.without("division");
    }
    return drawn.agrees(rest);
  }

  private static Decisions decisions(Point point) {
    return (name, options) -> {
      String option = point.option(name);
      int place = option == null ? 0 : options.indexOf(option);
      boolean alike = OF_GRIDS.contains(name) && !name.equals(RESIDENCE);
      return place >= 0 ? place : alike ? options.size() - 1 : 0;
    };
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
