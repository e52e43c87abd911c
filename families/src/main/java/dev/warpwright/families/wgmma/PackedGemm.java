package dev.warpwright.families.wgmma;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.StagedGemm;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.lower.copy.GridPrologue;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Products for Hopper whose operands are packed first: all blocks write them into scratch memory as
 * TMA copies and instructions that take both operands from shared memory need them, and then
 * multiply as {@link HopperGemm} does. MN-major operands of 4 bytes or 1 become K-major; rows that
 * begin anywhere begin at multiples of 16 bytes.
 *
 * <p>A matrix is read and written once more, but not transposed or shifted anew for each tile that
 * reads it.
 */
public final class PackedGemm {
  private static final int CHUNK = 16;

  /** Of a piece of that size. */
  private static final int WORDS = 4;

  /** Loads of a thread at once, at most. */
  private static final double UNDER_WAY = 32;

  /** Accumulators beside which ptxas finds registers for rows that begin anywhere. */
  private static final int MOST_BESIDE_ROWS = 144;

  /** What becomes of an operand. */
  private enum Packing {
    NONE,
    ALIGNED,
    TRANSPOSED
  }

  private PackedGemm() {}

  private static Packing ofA(GemmWorkload workload) {
    return of(workload, workload.layout().transposedA(), workload.lda());
  }

  private static Packing ofB(GemmWorkload workload) {
    return of(workload, !workload.layout().transposedB(), workload.ldb());
  }

  private static Packing of(GemmWorkload workload, boolean mnMajor, long row) {
    int bytes = workload.operands().bytes();
    if (mnMajor && bytes != 2) {
      return Packing.TRANSPOSED;
    }
    return row * bytes % CHUNK == 0 ? Packing.NONE : Packing.ALIGNED;
  }

  /** The same GEMM of operands as they are once they are packed. */
  public static GemmWorkload packed(GemmWorkload workload) {
    GemmWorkload.Layout layout = workload.layout();
    boolean a = layout.transposedA() && ofA(workload) != Packing.TRANSPOSED;
    boolean b = layout.transposedB() || ofB(workload) == Packing.TRANSPOSED;
    GemmWorkload.Layout then =
        a
            ? b ? GemmWorkload.Layout.TT : GemmWorkload.Layout.TN
            : b ? GemmWorkload.Layout.NT : GemmWorkload.Layout.NN;
    GemmWorkload.Leading leading = workload.leading();
    return new GemmWorkload(
        workload.m(),
        workload.n(),
        workload.k(),
        workload.precision(),
        workload.result(),
        then,
        workload.epilogue(),
        workload.batch(),
        new GemmWorkload.Leading(
            leading(workload, ofA(workload), leading.a(), a ? workload.m() : workload.k()),
            leading(workload, ofB(workload), leading.b(), b ? workload.k() : workload.n()),
            leading.c()));
  }

  /** Elements from a row of a packed operand to the next. */
  private static long leading(GemmWorkload workload, Packing packing, long leading, long columns) {
    int chunk = chunk(workload);
    return switch (packing) {
      case NONE -> leading;
      case ALIGNED -> Math.ceilDiv(columns, chunk) * chunk;
      case TRANSPOSED -> 0;
    };
  }

  private static int chunk(GemmWorkload workload) {
    return CHUNK / workload.operands().bytes();
  }

  /** Why operands of a GEMM are not packed; null if they may be. */
  static @Nullable String problem(GemmWorkload workload) {
    Packing a = ofA(workload);
    Packing b = ofB(workload);
    if (a == Packing.NONE && b == Packing.NONE) {
      return String.format(
          Locale.ROOT,
          "operands of %s in %s need no packing",
          workload.operands().text(),
          workload.layout());
    }
    if (workload.batch().isMany()) {
      return "operands of one GEMM are packed, not of many";
    }
    int chunk = chunk(workload);
    boolean transposes = a == Packing.TRANSPOSED || b == Packing.TRANSPOSED;
    boolean whole =
        (!transposes || workload.k() % chunk == 0)
            && (a != Packing.TRANSPOSED || isWhole(workload.m(), workload.lda(), chunk))
            && (b != Packing.TRANSPOSED || isWhole(workload.n(), workload.ldb(), chunk));
    return whole
        ? HopperLimits.operandsProblem(packed(workload))
        : String.format(
            Locale.ROOT, "matrices are transposed whose sides are multiples of %d", chunk);
  }

  private static boolean isWhole(long columns, long leading, int chunk) {
    return columns % chunk == 0 && leading % chunk == 0;
  }

  /** Why a configuration does not fit a GEMM; null if nothing is known against it. */
  static @Nullable String problem(GemmWorkload workload, HopperConfig config, int sms) {
    String problem = HopperLimits.problem(packed(workload), config);
    if (problem != null) {
      return problem;
    }
    long sums = HopperLimits.accumulatorRegisters(workload, config);
    boolean byRows = !config.direct() && !config.swapAb() && HopperLimits.isRaggedResult(workload);
    if (byRows && sums > MOST_BESIDE_ROWS) {
      return sums + " accumulators of a thread, which spills to store ragged rows";
    }
    long tiles =
        Math.ceilDiv(workload.m(), config.tileM()) * Math.ceilDiv(workload.n(), config.tileN());
    if (config.blocks() == 0 && tiles > (long) sms * config.minBlocks()) {
      return tiles + " blocks, each of which would look whether operands are packed";
    }
    return HopperLimits.sharedProblem(
        HopperLimits.sharedBytes(packed(workload), config) + GridPrologue.SHARED_BYTES,
        config.minBlocks(),
        GpuTarget.SM_90A);
  }

  /** Bytes of the operands that are packed. */
  static double bytes(GemmWorkload workload) {
    double rows =
        (ofA(workload) == Packing.NONE ? 0 : workload.m())
            + (ofB(workload) == Packing.NONE ? 0 : workload.n());
    return rows * workload.k() * workload.operands().bytes();
  }

  /** How often threads load the pieces of rows that become aligned, all of them together. */
  static double aligned(GemmWorkload workload) {
    return aligned(
            workload, ofA(workload), workload.layout().transposedA(), workload.m(), workload.lda())
        + aligned(
            workload,
            ofB(workload),
            !workload.layout().transposedB(),
            workload.n(),
            workload.ldb());
  }

  private static double aligned(
      GemmWorkload workload, Packing packing, boolean mnMajor, long side, long row) {
    if (packing != Packing.ALIGNED) {
      return 0;
    }
    int bytes = workload.operands().bytes();
    long rows = mnMajor ? workload.k() : side;
    long columns = mnMajor ? side : workload.k();
    long loads = CHUNK / Math.min(CHUNK, Long.lowestOneBit(row * bytes));
    double underWay = UNDER_WAY / Math.max(WORDS, loads);
    return rows * Math.ceilDiv(columns * bytes, (long) CHUNK) / underWay;
  }

  /** Squares that are transposed: as many rows of 16 bytes as those have elements. */
  static double transposed(GemmWorkload workload) {
    long rows =
        (ofA(workload) == Packing.TRANSPOSED ? workload.m() : 0L)
            + (ofB(workload) == Packing.TRANSPOSED ? workload.n() : 0L);
    double side = chunk(workload);
    return rows * workload.k() / (side * side);
  }

  /**
   * Schedules and lowers.
   *
   * @param config of the GEMM of packed operands
   * @throws UserError if the configuration does not fit the workload or the hardware
   */
  public static ScheduledGemm schedule(GemmWorkload workload, HopperConfig config) {
    String problem = problem(workload);
    if (problem == null) {
      problem = HopperLimits.problem(packed(workload), config);
    }
    if (problem != null) {
      throw new UserError(problem);
    }
    PrimFunc func = workload.func(config.swapAb());
    Schedule s = new Schedule(func);
    StagedGemm.Names gemm = StagedGemm.Names.GEMM;
    StagedGemm.Names names =
        new StagedGemm.Names(
            packed(s, gemm.a(), ofA(workload), chunk(workload)),
            packed(s, gemm.b(), ofB(workload), chunk(workload)),
            gemm.sums(),
            gemm.result());
    return HopperGemm.schedule(
        new HopperGemm.Begun(func, s, names, workload), packed(workload), config);
  }

  /** Packs an operand: the sums read the copy, whose rows begin at multiples of a chunk. */
  private static String packed(Schedule s, String operand, Packing packing, int chunk) {
    if (packing == Packing.NONE) {
      return operand;
    }
    BlockRef copy =
        s.cacheRead(s.buffer(operand), Scope.GLOBAL, s.block(StagedGemm.Names.GEMM.sums()));
    if (packing == Packing.TRANSPOSED) {
      s.transformLayout(s.buffer(copy.name()), List.of(1, 0));
    }
    s.storageAlign(s.buffer(copy.name()), 0, chunk, 0);
    s.tensorize(copy, Attrs.NONE);
    return copy.name();
  }
}
