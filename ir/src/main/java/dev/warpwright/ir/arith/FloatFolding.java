package dev.warpwright.ir.arith;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IntegerMath;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.type.DType;

/** Float operations on constants, and the few identities that keep every bit, signed zeros too. */
final class FloatFolding {
  /** Integers up to this magnitude are exact in double. */
  private static final long EXACT = 1L << 53;

  private FloatFolding() {}

  static Expr binary(Expr.Binary e) {
    Expr a = e.a();
    Expr b = e.b();
    DType dtype = a.type().dtype();
    boolean defined = dtype == DType.F32 || dtype == DType.F64;
    if (defined && a instanceof Expr.FloatImm x && b instanceof Expr.FloatImm y) {
      return constants(e, x.value(), y.value());
    }
    if (!defined || !(b instanceof Expr.FloatImm y)) {
      return defined && e.op() == BinaryOp.MUL && isOne(a) ? b : e;
    }
    boolean zero = y.value() == 0;
    boolean negative = Double.doubleToRawLongBits(y.value()) < 0;
    return switch (e.op()) {
      case MUL, DIV -> y.value() == 1 ? a : e;
      case ADD -> zero && negative ? a : e;
      case SUB -> zero && !negative ? a : e;
      case MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, EQ, NE, LT, LE, GT, GE, AND, OR -> e;
    };
  }

  private static boolean isOne(Expr e) {
    return e instanceof Expr.FloatImm imm && imm.value() == 1;
  }

  /** Double is wide enough that rounding its result to f32 equals the f32 operation. */
  private static Expr constants(Expr.Binary e, double x, double y) {
    return switch (e.op()) {
      case ADD -> new Expr.FloatImm(e.type(), x + y);
      case SUB -> new Expr.FloatImm(e.type(), x - y);
      case MUL -> new Expr.FloatImm(e.type(), x * y);
      case DIV -> new Expr.FloatImm(e.type(), x / y);
      case MIN ->
          new Expr.FloatImm(e.type(), Double.isNaN(x) ? y : Double.isNaN(y) ? x : Math.min(x, y));
      case MAX ->
          new Expr.FloatImm(e.type(), Double.isNaN(x) ? y : Double.isNaN(y) ? x : Math.max(x, y));
      case EQ -> Exprs.bool(x == y);
      case NE -> Exprs.bool(x != y);
      case LT -> Exprs.bool(x < y);
      case LE -> Exprs.bool(x <= y);
      case GT -> Exprs.bool(x > y);
      case GE -> Exprs.bool(x >= y);
      case MOD, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR -> e;
    };
  }

  static Expr call(Expr.Call c) {
    if (c.op() != MathOp.FMA
        || !(c.args().get(0) instanceof Expr.FloatImm x)
        || !(c.args().get(1) instanceof Expr.FloatImm y)
        || !(c.args().get(2) instanceof Expr.FloatImm z)) {
      return c;
    }
    return switch (c.type().dtype()) {
      case F32 ->
          new Expr.FloatImm(
              c.type(), Math.fma((float) x.value(), (float) y.value(), (float) z.value()));
      case F64 -> new Expr.FloatImm(c.type(), Math.fma(x.value(), y.value(), z.value()));
      case BOOL, I8, U8, I32, U32, I64, U64, F8E4M3, F8E5M2, F16, BF16, MBARRIER, HANDLE -> c;
    };
  }

  /** Conversions of constants. */
  static Expr cast(Expr.Cast c) {
    DType to = c.type().dtype();
    if (c.a().type().equals(c.type())) {
      return c.a();
    }
    if (c.a() instanceof Expr.FloatImm imm) {
      if (to.isFloat()) {
        return new Expr.FloatImm(c.type(), imm.value());
      }
      return switch (to) {
        case BOOL -> Exprs.bool(imm.value() != 0);
        case I32 -> new Expr.IntImm(c.type(), (int) imm.value());
        case I64 -> new Expr.IntImm(c.type(), (long) imm.value());
        case I8, U8, U32, U64, F8E4M3, F8E5M2, F16, BF16, F32, F64, MBARRIER, HANDLE -> c;
      };
    }
    if (c.a() instanceof Expr.IntImm imm) {
      if (to == DType.BOOL) {
        return Exprs.bool(imm.value() != 0);
      }
      if (to.isInt()) {
        return new Expr.IntImm(c.type(), IntegerMath.wrap(to, imm.value()));
      }
      if (to.isFloat() && Math.abs(imm.value()) <= EXACT) {
        return new Expr.FloatImm(c.type(), imm.value());
      }
    }
    return c;
  }
}
