package dev.warpwright.cuda;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;

/** What the kernels of a translation unit use, hence what it has to define. */
final class Uses {
  private final GpuTarget target;
  private final Set<Helper> helpers = EnumSet.noneOf(Helper.class);
  private final Set<TargetIntrinsic> intrinsics = new LinkedHashSet<>();
  private final Set<TargetIntrinsic> guarded = new LinkedHashSet<>();

  Uses(GpuTarget target) {
    this.target = target;
  }

  /**
   * Notes the use of a helper and gives its name.
   *
   * @throws UserError if the target does not have what it needs
   */
  String helper(Helper helper) {
    if (!target.supports(helper.minimumArch(), false)) {
      throw new UserError(
          helper
              + " needs sm_"
              + helper.minimumArch()
              + " or newer, the target is "
              + target.name());
    }
    helper.needs().forEach(this::helper);
    helpers.add(helper);
    return helper.name().toLowerCase(Locale.ROOT);
  }

  /** Notes the use of an element type. */
  void type(DType dtype) {
    switch (dtype) {
      case F16 -> helpers.add(Helper.F16);
      case BF16 -> helpers.add(Helper.BF16);
      case F8E4M3 -> helpers.add(Helper.F8E4M3);
      case F8E5M2 -> helpers.add(Helper.F8E5M2);
      case BOOL, I8, U8, I32, U32, I64, U64, F32, F64, MBARRIER, HANDLE -> {}
    }
  }

  /**
   * Notes the use of an intrinsic and gives its name.
   *
   * @throws UserError if the target does not have it
   */
  String intrinsic(TargetIntrinsic intrinsic) {
    require(intrinsic);
    intrinsics.add(intrinsic);
    return intrinsic.function();
  }

  /**
   * Notes the use of an intrinsic under a condition and gives the name of its function.
   *
   * @throws UserError if the target does not have it
   */
  String guarded(TargetIntrinsic intrinsic) {
    require(intrinsic);
    guarded.add(intrinsic);
    return intrinsic.guardedFunction();
  }

  private void require(TargetIntrinsic intrinsic) {
    if (!target.supports(intrinsic.minimumArch(), intrinsic.archSpecific())) {
      String needed =
          "sm_" + intrinsic.minimumArch() + (intrinsic.archSpecific() ? "a" : " or newer");
      throw new UserError(
          intrinsic.text() + " needs " + needed + ", the target is " + target.name());
    }
  }

  /** The definitions, helpers first. */
  String definitions() {
    StringBuilder text = new StringBuilder();
    for (Helper helper : helpers) {
      text.append(helper.text()).append('\n');
    }
    for (TargetIntrinsic intrinsic : intrinsics) {
      if (!intrinsic.isBuiltIn()) {
        text.append(intrinsic.cuda()).append('\n');
      }
    }
    guarded.forEach(i -> text.append(Intrinsics.guarded(i).orElseThrow()).append('\n'));
    return text.toString();
  }
}
