package dev.warpwright.ir;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.List;

/** Makes expressions, folding constants and neutral elements on the way. */
public final class Exprs {
  private Exprs() {}

  public static Expr.IntImm i32(long value) {
    return new Expr.IntImm(Type.I32, value);
  }

  public static Expr.IntImm bool(boolean value) {
    return new Expr.IntImm(Type.BOOL, value ? 1 : 0);
  }

  public static Expr.FloatImm f32(double value) {
    return new Expr.FloatImm(Type.F32, value);
  }

  /** Zero of a scalar type, or of every lane of a vector type. */
  public static Expr zero(Type type) {
    return constant(type, 0);
  }

  /** A constant of a numeric type, in every lane. */
  public static Expr constant(Type type, double value) {
    Type scalar = type.withLanes(1);
    Expr one =
        type.dtype().isFloat()
            ? new Expr.FloatImm(scalar, value)
            : new Expr.IntImm(scalar, (long) value);
    return type.isScalar() ? one : new Expr.Broadcast(one, type.lanes());
  }

  public static boolean isConst(Expr e, long value) {
    return e instanceof Expr.IntImm imm && imm.value() == value;
  }

  public static Expr add(Expr a, Expr b) {
    if (isConst(a, 0)) {
      return b;
    }
    if (isConst(b, 0)) {
      return a;
    }
    if (b instanceof Expr.IntImm y
        && a instanceof Expr.Binary(BinaryOp op, Expr x, Expr.IntImm z)
        && op == BinaryOp.ADD) {
      return add(x, new Expr.IntImm(y.type(), z.value() + y.value()));
    }
    return fold(BinaryOp.ADD, a, b);
  }

  public static Expr add(Expr a, long b) {
    return add(a, constant(a.type(), b));
  }

  public static Expr sub(Expr a, Expr b) {
    return isConst(b, 0) ? a : fold(BinaryOp.SUB, a, b);
  }

  public static Expr mul(Expr a, Expr b) {
    if (isConst(a, 1) || isConst(b, 0)) {
      return b;
    }
    return isConst(b, 1) || isConst(a, 0) ? a : fold(BinaryOp.MUL, a, b);
  }

  public static Expr mul(Expr a, long b) {
    return mul(a, constant(a.type(), b));
  }

  /** Integers: rounded toward minus infinity. */
  public static Expr div(Expr a, Expr b) {
    return isConst(b, 1) ? a : fold(BinaryOp.DIV, a, b);
  }

  public static Expr div(Expr a, long b) {
    return div(a, constant(a.type(), b));
  }

  public static Expr mod(Expr a, Expr b) {
    return isConst(b, 1) ? new Expr.IntImm(a.type(), 0) : fold(BinaryOp.MOD, a, b);
  }

  public static Expr mod(Expr a, long b) {
    return mod(a, constant(a.type(), b));
  }

  /** {@code ⌈a / b⌉} for a ≥ 0 and b &gt; 0. */
  public static Expr ceilDiv(Expr a, long b) {
    return div(add(a, b - 1), b);
  }

  public static Expr min(Expr a, Expr b) {
    return fold(BinaryOp.MIN, a, b);
  }

  public static Expr max(Expr a, Expr b) {
    return fold(BinaryOp.MAX, a, b);
  }

  public static Expr bitAnd(Expr a, long b) {
    return fold(BinaryOp.BIT_AND, a, constant(a.type(), b));
  }

  public static Expr bitXor(Expr a, Expr b) {
    return isConst(b, 0) ? a : fold(BinaryOp.BIT_XOR, a, b);
  }

  public static Expr shr(Expr a, long b) {
    return b == 0 ? a : fold(BinaryOp.SHR, a, constant(a.type(), b));
  }

  public static Expr lt(Expr a, Expr b) {
    return fold(BinaryOp.LT, a, b);
  }

  public static Expr ge(Expr a, Expr b) {
    return fold(BinaryOp.GE, a, b);
  }

  public static Expr eq(Expr a, Expr b) {
    return fold(BinaryOp.EQ, a, b);
  }

  public static Expr and(Expr a, Expr b) {
    if (isConst(a, 1)) {
      return b;
    }
    return isConst(b, 1) ? a : fold(BinaryOp.AND, a, b);
  }

  /** Evaluates an operator on integer constants, otherwise builds the node. */
  public static Expr fold(BinaryOp op, Expr a, Expr b) {
    if (a instanceof Expr.IntImm x && b instanceof Expr.IntImm y && x.type().equals(y.type())) {
      Expr.IntImm folded = IntegerMath.fold(op, x, y);
      if (folded != null) {
        return folded;
      }
    }
    return new Expr.Binary(op, a, b);
  }

  public static Expr select(Expr condition, Expr then, Expr otherwise) {
    if (condition instanceof Expr.IntImm imm) {
      return imm.value() != 0 ? then : otherwise;
    }
    return new Expr.Select(condition, then, otherwise);
  }

  /** Conversion, nothing where the type is already right. */
  public static Expr cast(DType dtype, Expr a) {
    if (a.type().dtype() == dtype) {
      return a;
    }
    if (a instanceof Expr.FloatImm imm && dtype.isFloat()) {
      return new Expr.FloatImm(Type.of(dtype), imm.value());
    }
    return new Expr.Cast(a.type().withDType(dtype), a);
  }

  /** A mathematical function of arguments of one type. */
  public static Expr call(MathOp op, Expr... args) {
    if (args.length != op.arity()) {
      throw new IllegalArgumentException(
          op + " takes " + op.arity() + " arguments, not " + args.length);
    }
    return new Expr.Call(op, List.of(args), args[0].type());
  }

  public static Expr fma(Expr a, Expr b, Expr c) {
    return call(MathOp.FMA, a, b, c);
  }

  public static Expr load(Buffer buffer, Expr... indices) {
    return new Expr.Load(buffer, List.of(indices));
  }

  /** Evaluates an intrinsic for its effect. */
  public static Stmt evaluate(Intrinsic intrinsic, Expr... args) {
    Type result = intrinsic.result();
    return new Stmt.Evaluate(
        new Expr.Call(intrinsic, List.of(args), result == null ? Type.BOOL : result));
  }
}
