package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.Intrinsic.Access;
import dev.warpwright.ir.Intrinsic.Collective;
import dev.warpwright.ir.Intrinsic.Operand;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Drives;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The part of the table of {@link Intrinsics} that counts in global memory, and so orders what
 * blocks do.
 */
public final class CounterIntrinsics {
  static final List<TargetIntrinsic> TABLE = new ArrayList<>();

  private static final Set<Scope> GLOBAL = Set.of(Scope.GLOBAL);

  /** {@code (address, value)}: adds and gives the old value; acquires and releases. */
  public static final TargetIntrinsic ATOMIC_ADD =
      value(
          "atomic.add.acq_rel.u32",
          Type.U32,
          HopperWrappers.ATOMIC_ADD_U32,
          new Operand("address", DType.U32, GLOBAL, Access.READ_WRITE, 1),
          new Operand("value", DType.U32, Set.of(), Access.NONE, 1));

  /** {@code (address, value)}: adds and gives the old value; orders nothing else. */
  public static final TargetIntrinsic ATOMIC_ADD_RELAXED =
      value(
          "atomic.add.relaxed.u32",
          Type.U32,
          HopperWrappers.ATOMIC_ADD_RELAXED_U32,
          new Operand("address", DType.U32, GLOBAL, Access.READ_WRITE, 1),
          new Operand("value", DType.U32, Set.of(), Access.NONE, 1));

  /** {@code (address, value)}: adds; releases the thread's earlier accesses to the GPU. */
  public static final TargetIntrinsic RED_RELEASE =
      add(
          "red.add.release.u32",
          HopperWrappers.RED_RELEASE_U32,
          new Operand("address", DType.U32, GLOBAL, Access.READ_WRITE, 1),
          new Operand("value", DType.U32, Set.of(), Access.NONE, 1));

  /** {@code (address)}: the value, acquiring what was released with it. */
  public static final TargetIntrinsic LOAD_ACQUIRE =
      value(
          "load.acquire.u32",
          Type.U32,
          HopperWrappers.LOAD_ACQUIRE_U32,
          new Operand("address", DType.U32, GLOBAL, Access.READ, 1));

  private CounterIntrinsics() {}

  private static TargetIntrinsic value(String text, Type result, String cuda, Operand... operands) {
    return add(text, result, cuda, operands);
  }

  private static TargetIntrinsic add(String text, String cuda, Operand... operands) {
    return add(text, null, cuda, operands);
  }

  private static TargetIntrinsic add(
      String text, @Nullable Type result, String cuda, Operand... operands) {
    TargetIntrinsic intrinsic =
        new TargetIntrinsic(
            text,
            Collective.THREAD,
            List.of(operands),
            result,
            new Drives(Unit.COUNTER),
            75,
            false,
            cuda,
            "PTX ISA, " + text);
    TABLE.add(intrinsic);
    return intrinsic;
  }
}
