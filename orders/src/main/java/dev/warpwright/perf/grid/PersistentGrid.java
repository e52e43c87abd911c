package dev.warpwright.perf.grid;

import dev.warpwright.base.UserError;
import dev.warpwright.families.TileTimes;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.perf.UnitNumber;
import dev.warpwright.perf.order.TileProblem;
import dev.warpwright.perf.order.WorkItem;
import dev.warpwright.perf.predict.L2Number;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.target.DeviceModel;
import java.util.List;

/**
 * A persistent kernel: what its blocks compute, in which order, and how fast.
 *
 * @param problem the tiles of one GEMM or of two chained ones; sizes and capacity in bytes
 * @param order of the tiles
 * @param waits for what a tile of the second GEMM waits; it says nothing where there is one GEMM
 * @param dealing how blocks come to items
 * @param sms or clusters that compute a tile together
 * @param steps along K of a tile
 * @param times of a step
 */
public record PersistentGrid(
    TileProblem problem,
    List<WorkItem> order,
    WaitPolicy waits,
    Dealing dealing,
    DeviceModel device,
    int sms,
    Steps steps,
    TileTimes times) {
  /** Elements along K of one access. */
  private static final long CHUNK = 256;

  /** Steps along K of a tile of each GEMM; of the second none if there is one. */
  public record Steps(long first, long second) {
    public Steps {
      if (first < 1 || second < 0) {
        throw new UserError(first + " and " + second + " steps of K: 1 at least");
      }
    }
  }

  public PersistentGrid {
    order = List.copyOf(order);
    if (sms < 1) {
      throw new UserError(sms + " SMs: 1 at least");
    }
    String wrong = problem.outside(order);
    if (wrong != null) {
      throw new UserError(wrong);
    }
  }

  /**
   * The same with the second GEMM's K in parts, whose sums are in f32.
   *
   * @param first C = A · B
   * @param last columns of E = C · D
   */
  public static TileProblem problem(
      GemmShape first, long last, Tiling tiling, DeviceModel device, int parts) {
    TileProblem whole = problem(first, last, tiling, device);
    if (parts == 1) {
      return whole;
    }
    TileProblem.Sizes s = whole.sizes();
    long sums = s.e() / first.type().resultBytes() * Float.BYTES;
    return new TileProblem(
        whole.rows(),
        whole.columns(),
        whole.depth(),
        whole.chained(),
        whole.cachedResults(),
        new TileProblem.Sizes(s.a(), s.b(), s.c(), s.d(), sums),
        whole.capacity(),
        whole.atOnce(),
        parts);
  }

  /**
   * The tiles and the cache of a device, in bytes, one tile at a time.
   *
   * @param first C = A · B
   * @param last columns of E = C · D; 0 for one GEMM
   */
  public static TileProblem problem(GemmShape first, long last, Tiling tiling, DeviceModel device) {
    int bytes = first.type().operand().bytes();
    int result = first.type().resultBytes();
    long depth = Math.min(CHUNK, first.k());
    long height = Math.min(tiling.m(), first.m());
    long width = Math.min(tiling.n(), first.n());
    long across = Math.max(1, Math.min(tiling.n(), last));
    return new TileProblem(
        (int) Math.ceilDiv(first.m(), tiling.m()),
        (int) Math.ceilDiv(first.n(), tiling.n()),
        (int) Math.ceilDiv(first.k(), CHUNK),
        (int) Math.ceilDiv(last, tiling.n()),
        true,
        new TileProblem.Sizes(
            height * depth * bytes,
            depth * width * bytes,
            height * width * result,
            width * across * bytes,
            height * across * result),
        L2Number.capacity(device),
        1);
  }

  /** Blocks that stay. */
  public int blocks() {
    return sms * times.perSm();
  }

  /** Its items dealt otherwise. */
  public PersistentGrid with(Dealing other) {
    return new PersistentGrid(problem, order, waits, other, device, sms, steps, times);
  }

  /** Plays it, on SMs as uneven as they are on most cards. */
  public GridRun run() {
    return run(GridNumber.of(device).at(GridNumber.UNEVEN));
  }

  /**
   * Plays it.
   *
   * @param unevenness part of its time by which a tile may be too early or too late, 0 to 1
   */
  public GridRun run(double unevenness) {
    return new GridPlay(this, unevenness).play();
  }

  /** Steps of a moment of a tile. */
  double stepsEach(WorkItem item) {
    return item.gemm() == 0
        ? steps.first / (double) problem.depth()
        : steps.second / (double) problem.columns();
  }

  /**
   * A step of each block that works.
   *
   * @param asked bytes that one step of all of them asks L2 for
   * @param moved of these, to and from device memory
   */
  double stepUs(int sharing, int working, double asked, double moved) {
    double busy = times.stepUs(sharing, working, asked);
    double overlap = UnitNumber.of(device).at(UnitNumber.OVERLAP);
    return busy
        * Math.pow(1 + Math.pow(moved / times.dramBytesPerUs() / busy, overlap), 1 / overlap);
  }
}
