package dev.warpwright.families.space;

import dev.warpwright.base.UserError;
import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.gemv.StreamedGemm;
import dev.warpwright.families.gemv.StreamedSketch;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.mma.AmpereSketch;
import dev.warpwright.families.plain.PlainSketch;
import dev.warpwright.families.simt.SimtGemm;
import dev.warpwright.families.simt.SimtSketch;
import dev.warpwright.families.wgmma.HopperLimits;
import dev.warpwright.families.wgmma.HopperSketch;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.space.Point;
import dev.warpwright.tune.space.Rejected;
import dev.warpwright.tune.space.Space;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What there is to choose from for a product on a target. */
public final class GemmSpace {
  private static final String PLAIN = "plain";

  private GemmSpace() {}

  /**
   * The space of all families that can compute it.
   *
   * @param multiprocessors of the device, which persistent kernels fill
   */
  public static Space of(GemmWorkload workload, GpuTarget target, int multiprocessors) {
    return new Space(List.copyOf(sketches(workload, target, multiprocessors)));
  }

  /**
   * The space that no experience has narrowed: all that rules allow.
   *
   * @param multiprocessors of the device, which persistent kernels fill
   * @throws UserError if there is none for the product
   */
  public static Space free(GemmWorkload workload, GpuTarget target, int multiprocessors) {
    List<GemmSketch> sketches =
        FreeSketch.all(workload.withVectorsAlongK(), target, multiprocessors);
    if (sketches.isEmpty()) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "no free space for %s on %s; leave out space=free",
              workload.key(),
              target.name()));
    }
    return new Space(List.copyOf(sketches));
  }

  /** The space that a point is of, as its first decision tells. */
  public static Space of(
      GemmWorkload workload, GpuTarget target, int multiprocessors, Point point) {
    return isFree(point)
        ? free(workload, target, multiprocessors)
        : of(workload, target, multiprocessors);
  }

  private static boolean isFree(Point point) {
    String sketch = point.option(Space.SKETCH);
    return sketch != null && sketch.startsWith(FreeSketch.PREFIX);
  }

  /**
   * The schedule of a point, with its trace and what it was lowered from.
   *
   * @throws UserError if the point has no kernel
   */
  public static ScheduledGemm schedule(
      GemmWorkload workload, GpuTarget target, int multiprocessors, Point point) {
    List<GemmSketch> sketches =
        isFree(point)
            ? FreeSketch.all(workload.withVectorsAlongK(), target, multiprocessors)
            : PLAIN.equals(point.option(Space.SKETCH))
                // The last resort, which need not be in the space.
                ? List.of(new PlainSketch(workload.withVectorsAlongK()))
                : sketches(workload, target, multiprocessors);
    for (GemmSketch sketch : sketches) {
      if (sketch.name().equals(point.option(Space.SKETCH))) {
        try {
          return sketch.schedule(
              (name, options) -> {
                String option = point.option(name);
                return option == null ? 0 : Math.max(0, options.indexOf(option));
              });
        } catch (Rejected e) {
          throw new UserError(point + ": " + e.getMessage());
        }
      }
    }
    throw new UserError(point + ": there is no such family for " + workload.key());
  }

  /** Whether mma.sync on Hopper is made of conversions and products of f16. */
  private static boolean isEmulated(GemmWorkload workload) {
    return workload.operands().isFloat()
        && workload.operands().bits() == 8
        && HopperLimits.typeProblem(workload) == null;
  }

  private static List<GemmSketch> sketches(
      GemmWorkload product, GpuTarget target, int multiprocessors) {
    GemmWorkload workload = product.withVectorsAlongK();
    List<GemmSketch> sketches = new ArrayList<>();
    if (workload.k() == 0) {
      sketches.add(new PlainSketch(workload));
    } else if (target == GpuTarget.SM_90A
        && (HopperLimits.operandsProblem(workload) == null || isEmulated(workload))) {
      sketches.add(new HopperSketch(workload, multiprocessors));
    } else if (AmpereGemm.operandsProblem(workload, target) == null) {
      sketches.add(new AmpereSketch(workload, target, multiprocessors));
      if (target == GpuTarget.SM_90A && HopperLimits.typeProblem(workload) == null) {
        // Rows that no bulk copy takes: threads copy in both families.
        sketches.add(new HopperSketch(workload, multiprocessors));
      }
    } else if (SimtGemm.operandsProblem(workload) == null) {
      sketches.add(new SimtSketch(workload, target, multiprocessors));
    } else {
      sketches.add(new PlainSketch(workload));
    }
    // Memory is the limit of few rows, whatever multiplies them.
    if (workload.k() > 0 && StreamedGemm.operandsProblem(workload) == null) {
      sketches.add(new StreamedSketch(workload, target, multiprocessors));
    }
    return sketches;
  }
}
