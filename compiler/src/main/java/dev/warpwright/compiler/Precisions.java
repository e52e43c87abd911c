package dev.warpwright.compiler;

import dev.warpwright.base.UserError;
import dev.warpwright.model.function.Precision;
import dev.warpwright.target.GpuTarget;

/** Which precisions a GPU target has matrix instructions for. */
public final class Precisions {
  private Precisions() {}

  public static boolean supports(GpuTarget target, Precision precision) {
    return switch (precision) {
      case F32 -> true;
      case F16 -> target.hasTensorF16();
      case TF32, BF16 -> target.hasAmpere();
    };
  }

  /**
   * Checks.
   *
   * @throws UserError if the target has none
   */
  public static void check(Precision precision, GpuTarget target) {
    if (!supports(target, precision)) {
      throw new UserError(
          target.name()
              + " has no "
              + precision.text()
              + " matrix instructions; use --precision f32 or f16");
    }
  }
}
