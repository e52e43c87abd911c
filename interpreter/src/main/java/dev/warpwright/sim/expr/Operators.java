package dev.warpwright.sim.expr;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.IntegerMath;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.api.Finding;

/** Compiles operators that give an integer or a boolean. */
public final class Operators {
  private final Context context;
  private final Stmt where;

  Operators(Context context, Stmt where) {
    this.context = context;
    this.where = where;
  }

  /** An operator on two integers or booleans of a type. */
  LongExpr binary(BinaryOp op, DType dtype, LongExpr a, LongExpr b) {
    boolean u64 = dtype == DType.U64;
    boolean i32 = dtype == DType.I32;
    return switch (op) {
      case ADD ->
          i32
              ? f -> (int) (a.eval(f) + b.eval(f))
              : f -> IntegerMath.wrap(dtype, a.eval(f) + b.eval(f));
      case SUB ->
          i32
              ? f -> (int) (a.eval(f) - b.eval(f))
              : f -> IntegerMath.wrap(dtype, a.eval(f) - b.eval(f));
      case MUL ->
          i32
              ? f -> (int) (a.eval(f) * b.eval(f))
              : f -> IntegerMath.wrap(dtype, a.eval(f) * b.eval(f));
      case DIV ->
          u64
              ? f -> Long.divideUnsigned(a.eval(f), divisor(b, f))
              : f -> IntegerMath.wrap(dtype, Math.floorDiv(a.eval(f), divisor(b, f)));
      case MOD ->
          u64
              ? f -> Long.remainderUnsigned(a.eval(f), divisor(b, f))
              : f -> Math.floorMod(a.eval(f), divisor(b, f));
      case MIN ->
          u64
              ? f -> {
                long x = a.eval(f);
                long y = b.eval(f);
                return Long.compareUnsigned(x, y) <= 0 ? x : y;
              }
              : f -> Math.min(a.eval(f), b.eval(f));
      case MAX ->
          u64
              ? f -> {
                long x = a.eval(f);
                long y = b.eval(f);
                return Long.compareUnsigned(x, y) >= 0 ? x : y;
              }
              : f -> Math.max(a.eval(f), b.eval(f));
      case BIT_AND, AND -> f -> a.eval(f) & b.eval(f);
      case BIT_OR, OR -> f -> a.eval(f) | b.eval(f);
      case BIT_XOR -> f -> a.eval(f) ^ b.eval(f);
      case SHL -> f -> IntegerMath.wrap(dtype, a.eval(f) << b.eval(f));
      case SHR -> u64 ? f -> a.eval(f) >>> b.eval(f) : f -> a.eval(f) >> b.eval(f);
      case EQ -> f -> a.eval(f) == b.eval(f) ? 1 : 0;
      case NE -> f -> a.eval(f) != b.eval(f) ? 1 : 0;
      case LT ->
          u64
              ? f -> Long.compareUnsigned(a.eval(f), b.eval(f)) < 0 ? 1 : 0
              : f -> a.eval(f) < b.eval(f) ? 1 : 0;
      case LE ->
          u64
              ? f -> Long.compareUnsigned(a.eval(f), b.eval(f)) <= 0 ? 1 : 0
              : f -> a.eval(f) <= b.eval(f) ? 1 : 0;
      case GT -> binary(BinaryOp.LT, dtype, b, a);
      case GE -> binary(BinaryOp.LE, dtype, b, a);
    };
  }

  private long divisor(LongExpr b, Frame f) {
    long value = b.eval(f);
    if (value == 0) {
      throw context.fault(Finding.Kind.ARITHMETIC, where, f, "", "integer division by zero");
    }
    return value;
  }

  /** A comparison of floats. */
  static LongExpr compareReals(BinaryOp op, DoubleExpr a, DoubleExpr b) {
    return switch (op) {
      case EQ -> f -> a.eval(f) == b.eval(f) ? 1 : 0;
      case NE -> f -> a.eval(f) != b.eval(f) ? 1 : 0;
      case LT -> f -> a.eval(f) < b.eval(f) ? 1 : 0;
      case LE -> f -> a.eval(f) <= b.eval(f) ? 1 : 0;
      case GT -> f -> a.eval(f) > b.eval(f) ? 1 : 0;
      case GE -> f -> a.eval(f) >= b.eval(f) ? 1 : 0;
      case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR ->
          throw new IllegalArgumentException(op + " is no comparison");
    };
  }
}
