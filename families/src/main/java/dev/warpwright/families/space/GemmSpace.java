package dev.warpwright.families.space;

import dev.warpwright.base.UserError;
import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.GemmTiles;
import dev.warpwright.families.KernelFamily;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.gemv.StreamedSketch;
import dev.warpwright.families.mma.AmpereSketch;
import dev.warpwright.families.plain.PlainSketch;
import dev.warpwright.families.simt.SimtSketch;
import dev.warpwright.families.wgmma.HopperSketch;
import dev.warpwright.families.wgmma.PackedSketch;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Point;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.Space;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** What there is to choose from for a product on a target. */
public final class GemmSpace {
  /** The families: the first that supports a GEMM computes it. */
  private static final List<KernelFamily> FAMILIES =
      List.of(HopperSketch.FAMILY, AmpereSketch.FAMILY, SimtSketch.FAMILY, PlainSketch.FAMILY);

  /**
   * Families that are tried beside the first: on Hopper for rows that no TMA copy takes and for
   * MN-major operands, and where memory is the limit, whatever multiplies.
   */
  private static final List<KernelFamily> BESIDE =
      List.of(
          new KernelFamily(
              (workload, target) ->
                  AmpereSketch.FAMILY.supports(workload, target)
                      && HopperSketch.COPYING.supports(workload, target),
              HopperSketch::new),
          PackedSketch.FAMILY,
          StreamedSketch.FAMILY);

  private GemmSpace() {}

  /**
   * The space of all families that can compute it.
   *
   * @param sms of the device, which persistent kernels fill
   * @throws UserError if none can, as no family of single threads has both columns of a gate
   */
  public static Space of(GemmWorkload workload, GpuTarget target, int sms) {
    List<GemmSketch<?>> sketches = sketches(workload, target, sms);
    if (sketches.isEmpty()) {
      throw new UserError(
          String.format(Locale.ROOT, "no kernel computes %s on %s", workload.key(), target.name()));
    }
    return new Space(List.copyOf(sketches));
  }

  /**
   * The space that no experience has narrowed: all that rules allow.
   *
   * @param sms of the device, which persistent kernels fill
   * @throws UserError if there is none for the product
   */
  public static Space free(GemmWorkload workload, GpuTarget target, int sms) {
    List<GemmSketch<?>> sketches = FreeSketch.all(workload.withVectorsAlongK(), target, sms);
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
  public static Space of(GemmWorkload workload, GpuTarget target, int sms, Point point) {
    return isFree(point) ? free(workload, target, sms) : of(workload, target, sms);
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
      GemmWorkload workload, GpuTarget target, int sms, Point point) {
    GemmSketch<?> sketch = sketch(workload, target, sms, point);
    try {
      return sketch.schedule(decided(point));
    } catch (Rejected e) {
      throw new UserError(point + ": " + e.getMessage());
    }
  }

  /**
   * How a point cuts a GEMM into tiles.
   *
   * @throws UserError if the point is of no family that computes it
   * @throws Rejected if its decisions do not fit together
   */
  public static GemmTiles tiles(GemmWorkload workload, GpuTarget target, int sms, Point point) {
    return sketch(workload, target, sms, point).tiles(decided(point));
  }

  /** The decisions of a point; the first option where it says nothing. */
  public static Decisions decided(Point point) {
    return (name, options) -> {
      String option = point.option(name);
      return option == null ? 0 : Math.max(0, options.indexOf(option));
    };
  }

  /**
   * The family's sketch that a point is of.
   *
   * @throws UserError if there is none for the product
   */
  public static GemmSketch<?> sketch(
      GemmWorkload workload, GpuTarget target, int sms, Point point) {
    List<GemmSketch<?>> sketches =
        isFree(point)
            ? FreeSketch.all(workload.withVectorsAlongK(), target, sms)
            : PlainSketch.NAME.equals(point.option(Space.SKETCH))
                // The last resort, which need not be in the space.
                ? List.of(new PlainSketch(workload.withVectorsAlongK(), target, sms))
                : sketches(workload, target, sms);
    return sketches.stream()
        .filter(sketch -> sketch.name().equals(point.option(Space.SKETCH)))
        .findFirst()
        .orElseThrow(
            () -> new UserError(point + ": there is no such family for " + workload.key()));
  }

  private static List<GemmSketch<?>> sketches(GemmWorkload product, GpuTarget target, int sms) {
    return sketches(FAMILIES, BESIDE, product, target, sms);
  }

  /** The sketches of the first family that supports a GEMM, and of those beside it that do. */
  static List<GemmSketch<?>> sketches(
      List<KernelFamily> families,
      List<KernelFamily> beside,
      GemmWorkload product,
      GpuTarget target,
      int sms) {
    GemmWorkload workload = product.withVectorsAlongK();
    if (workload.epilogue().isNormed()) {
      return HopperSketch.FAMILY.supports(workload, target)
          ? List.of(HopperSketch.FAMILY.sketch(workload, target, sms))
          : List.of();
    }
    return Stream.concat(
            families.stream().filter(f -> f.supports(workload, target)).limit(1),
            beside.stream().filter(f -> f.supports(workload, target)))
        .<GemmSketch<?>>map(f -> f.sketch(workload, target, sms))
        .toList();
  }
}
