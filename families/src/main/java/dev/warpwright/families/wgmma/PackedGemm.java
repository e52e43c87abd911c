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
 * Products for Hopper whose MN-major operands are packed first: all blocks transpose them into
 * scratch memory, K-major, and then multiply as {@link HopperGemm} does, by TMA copies and
 * instructions that take both operands from shared memory.
 *
 * <p>A matrix is read and written once more, but not transposed anew for each tile that reads it.
 */
public final class PackedGemm {
  private static final int CHUNK = 16;

  private PackedGemm() {}

  /** The same GEMM of operands that are K-major, as they are once they are packed. */
  public static GemmWorkload packed(GemmWorkload workload) {
    GemmWorkload.Layout layout = workload.layout();
    GemmWorkload.Leading leading = workload.leading();
    return new GemmWorkload(
        workload.m(),
        workload.n(),
        workload.k(),
        workload.precision(),
        workload.result(),
        GemmWorkload.Layout.NT,
        workload.epilogue(),
        workload.batch(),
        new GemmWorkload.Leading(
            layout.transposedA() ? 0 : leading.a(),
            layout.transposedB() ? leading.b() : 0,
            leading.c()));
  }

  /** Why operands of a GEMM are not packed; null if they may be. */
  static @Nullable String problem(GemmWorkload workload) {
    if (!HopperLimits.isTransposed(workload)) {
      return "operands of " + workload.operands().text() + " in NT need no packing";
    }
    if (workload.batch().isMany()) {
      return "operands of one GEMM are packed, not of many";
    }
    String type = HopperLimits.typeProblem(workload);
    if (type != null) {
      return type;
    }
    int chunk = CHUNK / workload.operands().bytes();
    GemmWorkload.Layout layout = workload.layout();
    boolean whole =
        workload.k() % chunk == 0
            && (!layout.transposedA() || workload.m() % chunk == 0)
            && (layout.transposedB() || workload.n() % chunk == 0);
    String problem =
        whole
            ? HopperLimits.operandsProblem(workload)
            : String.format(
                Locale.ROOT, "matrices are packed whose sides are multiples of %d", chunk);
    return problem == null ? HopperLimits.operandsProblem(packed(workload)) : problem;
  }

  /** Why a configuration does not fit a GEMM; null if nothing is known against it. */
  static @Nullable String problem(GemmWorkload workload, HopperConfig config, int sms) {
    String problem = HopperLimits.problem(packed(workload), config);
    if (problem != null) {
      return problem;
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
    GemmWorkload.Layout layout = workload.layout();
    double rows =
        (layout.transposedA() ? workload.m() : 0) + (layout.transposedB() ? 0 : workload.n());
    return rows * workload.k() * workload.operands().bytes();
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
    int chunk = CHUNK / workload.operands().bytes();
    GemmWorkload.Layout layout = workload.layout();
    StagedGemm.Names gemm = StagedGemm.Names.GEMM;
    StagedGemm.Names names =
        new StagedGemm.Names(
            layout.transposedA() ? packed(s, gemm.a(), chunk) : gemm.a(),
            layout.transposedB() ? gemm.b() : packed(s, gemm.b(), chunk),
            gemm.sums(),
            gemm.result());
    return HopperGemm.schedule(
        new HopperGemm.Begun(func, s, names, workload), packed(workload), config);
  }

  /** Packs an operand: the sums read its transpose, whose rows begin at multiples of a chunk. */
  private static String packed(Schedule s, String operand, int chunk) {
    BlockRef copy =
        s.cacheRead(s.buffer(operand), Scope.GLOBAL, s.block(StagedGemm.Names.GEMM.sums()));
    s.transformLayout(s.buffer(copy.name()), List.of(1, 0));
    s.storageAlign(s.buffer(copy.name()), 0, chunk, 0);
    s.tensorize(copy, Attrs.NONE);
    return copy.name();
  }
}
