package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.Intrinsic.Access;
import dev.warpwright.ir.Intrinsic.Collective;
import dev.warpwright.ir.Intrinsic.Operand;
import dev.warpwright.ir.Scope;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Drives;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Unit;
import java.util.List;
import java.util.Set;

/** Intrinsics that tell caches what will be read. */
public final class CacheHints {
  /**
   * {@code (address)}: the line of memory is brought to L2, if the unit has nothing better to do.
   * Nobody sees anything by it: it reads for no thread, so it may stand before any wait.
   */
  public static final TargetIntrinsic PREFETCH_L2 =
      new TargetIntrinsic(
          "prefetch.l2",
          Collective.THREAD,
          List.of(new Operand("address", null, Set.of(Scope.GLOBAL), Access.NONE, 1)),
          null,
          new Drives(Unit.CACHE),
          75,
          false,
          HopperWrappers.PREFETCH_L2,
          "PTX ISA, prefetch");

  private CacheHints() {}
}
