package dev.warpwright.ir;

import dev.warpwright.ir.type.DType;
import org.jspecify.annotations.Nullable;

/** Integer operators as the IR defines them, on values that have been wrapped to their type. */
public final class IntegerMath {
  private IntegerMath() {}

  /**
   * {@return {@code value} wrapped to the width and sign of the type}
   *
   * @param dtype an integer type
   * @param value whose low bits count
   */
  public static long wrap(DType dtype, long value) {
    return switch (dtype) {
      case I8 -> (byte) value;
      case U8 -> value & 0xFF;
      case I32 -> (int) value;
      case U32 -> value & 0xFFFF_FFFFL;
      case BOOL -> value & 1;
      case I64, U64, F8E4M3, F8E5M2, F16, BF16, F32, F64, MBARRIER, HANDLE -> value;
    };
  }

  /** The operator applied to constants; null where the result is undefined (division by zero). */
  static Expr.@Nullable IntImm fold(BinaryOp op, Expr.IntImm x, Expr.IntImm y) {
    DType dtype = x.type().dtype();
    long a = x.value();
    long b = y.value();
    if ((op == BinaryOp.DIV || op == BinaryOp.MOD) && b == 0) {
      return null;
    }
    boolean unsigned64 = dtype == DType.U64;
    int order = unsigned64 ? Long.compareUnsigned(a, b) : Long.compare(a, b);
    return switch (op) {
      case EQ -> Exprs.bool(a == b);
      case NE -> Exprs.bool(a != b);
      case LT -> Exprs.bool(order < 0);
      case LE -> Exprs.bool(order <= 0);
      case GT -> Exprs.bool(order > 0);
      case GE -> Exprs.bool(order >= 0);
      case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR ->
          new Expr.IntImm(x.type(), wrap(dtype, apply(op, a, b, unsigned64, order)));
    };
  }

  private static long apply(BinaryOp op, long a, long b, boolean unsigned64, int order) {
    return switch (op) {
      case ADD -> a + b;
      case SUB -> a - b;
      case MUL -> a * b;
      case DIV -> unsigned64 ? Long.divideUnsigned(a, b) : Math.floorDiv(a, b);
      case MOD -> unsigned64 ? Long.remainderUnsigned(a, b) : Math.floorMod(a, b);
      case MIN -> order <= 0 ? a : b;
      case MAX -> order >= 0 ? a : b;
      case BIT_AND, AND -> a & b;
      case BIT_OR, OR -> a | b;
      case BIT_XOR -> a ^ b;
      case SHL -> a << b;
      case SHR -> unsigned64 ? a >>> b : a >> b;
      case EQ, NE, LT, LE, GT, GE -> throw new IllegalArgumentException(op + " is a comparison");
    };
  }
}
