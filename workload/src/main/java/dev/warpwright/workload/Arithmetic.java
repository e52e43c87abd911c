package dev.warpwright.workload;

import dev.warpwright.ir.type.DType;
import java.util.Locale;

/** What the products and sums of a {@link GemmWorkload} are computed in. */
public enum Arithmetic {
  /** Sums in f32; of f32 operands exact products, so without tensor cores. */
  F32(DType.F32),
  /** f32 operands rounded to tf32, sums in f32. */
  TF32(DType.F32),
  /**
   * f16 operands, sums rounded to f16 for each group of products that an instruction adds; in f32
   * where threads multiply.
   */
  F16(DType.F16),
  /** Integer operands, exact sums. */
  I32(DType.I32),
  F64(DType.F64);

  private final DType sums;

  Arithmetic(DType sums) {
    this.sums = sums;
  }

  /** Type of the sums. */
  public DType sums() {
    return sums;
  }

  /** {@code tf32}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** What operands of a type are multiplied in unless something else is asked for. */
  public static Arithmetic of(DType operands) {
    return switch (operands) {
      case I8, U8 -> I32;
      case F64 -> F64;
      case BOOL, I32, U32, I64, U64, F16, BF16, F32, F8E4M3, F8E5M2, MBARRIER, HANDLE -> F32;
    };
  }

  /** Whether operands of a type can be multiplied in this. */
  public boolean takes(DType operands) {
    return switch (this) {
      case F32 -> of(operands) == F32;
      case TF32 -> operands == DType.F32;
      case F16 -> operands == DType.F16;
      case I32 -> of(operands) == I32;
      case F64 -> operands == DType.F64;
    };
  }
}
