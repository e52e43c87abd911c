package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.Intrinsic.Access;
import dev.warpwright.ir.Intrinsic.Collective;
import dev.warpwright.ir.Intrinsic.Operand;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Computes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The part of the table of {@link Intrinsics} that moves 16 bytes of one thread at once, by words
 * whatever the elements are, and what becomes of them in registers.
 */
public final class VectorIntrinsics {
  static final List<TargetIntrinsic> TABLE = new ArrayList<>();

  private static final Set<Scope> LOCAL = Set.of(Scope.LOCAL);
  private static final Set<Scope> SHARED = Set.of(Scope.SHARED);
  private static final Set<Scope> GLOBAL = Set.of(Scope.GLOBAL);

  /** {@code (dst[4], src)}: 16 bytes of memory that nothing writes while the kernel runs. */
  public static final TargetIntrinsic LOAD_X4 =
      add(
          "ld.global.x4",
          List.of(
              new Operand("dst", DType.U32, LOCAL, Access.WRITE, 4),
              new Operand("src", null, GLOBAL, Access.READ, 16)),
          new Computes(LaneMeanings.load(4)),
          CudaWrappers.LOAD_X4,
          "PTX ISA, ld.global.nc");

  /**
   * {@code (dst[4], src, back, present)}: 16 bytes that begin {@code back} bytes before an element,
   * at a multiple of 16 bytes; zeros, and nothing is read, if {@code present} is 0. What an element
   * begins inside of, and what follows that, are two of these for {@link #STORE_SHIFTED_X4}.
   */
  public static final TargetIntrinsic LOAD_AROUND_X4 =
      add(
          "ld.global.around.x4",
          List.of(
              new Operand("dst", DType.U32, LOCAL, Access.WRITE, 4),
              new Operand("src", null, GLOBAL, Access.READ, 1),
              i32("back"),
              i32("present")),
          new Computes(LaneMeanings.loadAround()),
          CudaWrappers.LOAD_AROUND_X4,
          "PTX ISA, ld");

  /**
   * {@code (dst, src[8], shift, count)}: 16 of the 32 bytes in registers, from the byte {@code
   * shift} (0 to 15) on, to shared memory; those past the first {@code count} become zero.
   */
  public static final TargetIntrinsic STORE_SHIFTED_X4 =
      add(
          "st.shared.shifted.x4",
          List.of(
              new Operand("dst", null, SHARED, Access.WRITE, 16),
              new Operand("src", DType.U32, LOCAL, Access.READ, 8),
              i32("shift"),
              i32("count")),
          new Computes(LaneMeanings.storeShifted()),
          CudaWrappers.STORE_SHIFTED_X4,
          "PTX ISA, shf, st");

  /** {@code (dst, src[4])}: 16 bytes to shared memory. */
  public static final TargetIntrinsic STORE_X4 =
      add(
          "st.shared.x4",
          List.of(
              new Operand("dst", null, SHARED, Access.WRITE, 16),
              new Operand("src", DType.U32, LOCAL, Access.READ, 4)),
          new Computes(LaneMeanings.load(4)),
          CudaWrappers.STORE_X4,
          "PTX ISA, st");

  /** {@code (dst, src[4])}: 16 bytes to global memory. */
  public static final TargetIntrinsic STORE_GLOBAL_X4 =
      add(
          "st.global.x4",
          List.of(
              new Operand("dst", null, GLOBAL, Access.WRITE, 16),
              new Operand("src", DType.U32, LOCAL, Access.READ, 4)),
          new Computes(LaneMeanings.load(4)),
          CudaWrappers.STORE_GLOBAL_X4,
          "PTX ISA, st");

  /** {@code (dst[4], src[4])}: 4 × 4 bytes, rows become columns: byte j of word i to i of j. */
  public static final TargetIntrinsic TRANSPOSE_B8_X4 =
      add(
          "transpose.b8.x4",
          List.of(
              new Operand("dst", DType.U32, LOCAL, Access.WRITE, 4),
              new Operand("src", DType.U32, LOCAL, Access.READ, 4)),
          new Computes(LaneMeanings.transposeBytes()),
          CudaWrappers.TRANSPOSE_B8_X4,
          "PTX ISA, prmt");

  private VectorIntrinsics() {}

  private static TargetIntrinsic add(
      String text, List<Operand> operands, Computes effect, String cuda, String source) {
    TargetIntrinsic intrinsic =
        new TargetIntrinsic(
            text, Collective.THREAD, operands, null, effect, 75, false, cuda, source);
    TABLE.add(intrinsic);
    return intrinsic;
  }

  private static Operand i32(String name) {
    return new Operand(name, DType.I32, Set.of(), Access.NONE, 1);
  }
}
