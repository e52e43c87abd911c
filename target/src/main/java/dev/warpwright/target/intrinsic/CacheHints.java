package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.Intrinsic.Access;
import dev.warpwright.ir.Intrinsic.Collective;
import dev.warpwright.ir.Intrinsic.Operand;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
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

  /**
   * {@code (address, bytes)}: so many contiguous bytes of memory, a multiple of 16, are brought to
   * L2. As {@link #PREFETCH_L2}, it reads for no thread.
   */
  public static final TargetIntrinsic PREFETCH_BULK_L2 =
      new TargetIntrinsic(
          "prefetch.bulk.l2",
          Collective.THREAD,
          List.of(
              new Operand("address", null, Set.of(Scope.GLOBAL), Access.NONE, 16),
              new Operand("bytes", DType.I32, Set.of(), Access.NONE, 1)),
          null,
          new Drives(Unit.CACHE),
          90,
          false,
          HopperWrappers.PREFETCH_BULK_L2,
          "PTX ISA, cp.async.bulk.prefetch");

  private CacheHints() {}
}
