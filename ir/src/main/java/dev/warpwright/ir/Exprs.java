package dev.warpwright.ir;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.List;

/** Makes expressions, folding constants and neutral elements on the way. */
public final class Exprs {
  private Exprs() {}

  /**
   * {@return a constant of type i32}
   *
   * @param value within its range
   */
  public static Expr.IntImm i32(long value) {
    return new Expr.IntImm(Type.I32, value);
  }

  /**
   * {@return a constant of type bool}
   *
   * @param value of the constant
   */
  public static Expr.IntImm bool(boolean value) {
    return new Expr.IntImm(Type.BOOL, value ? 1 : 0);
  }

  /**
   * {@return a constant of type f32, rounded to nearest}
   *
   * @param value of the constant
   */
  public static Expr.FloatImm f32(double value) {
    return new Expr.FloatImm(Type.F32, value);
  }

  /**
   * {@return zero of a scalar type, or of every lane of a vector type}
   *
   * @param type numeric
   */
  public static Expr zero(Type type) {
    return constant(type, 0);
  }

  /**
   * {@return a constant of a numeric type, in every lane}
   *
   * @param type numeric
   * @param value rounded to the type; of integers a whole number
   */
  public static Expr constant(Type type, double value) {
    Type scalar = type.withLanes(1);
    Expr one =
        type.dtype().isFloat()
            ? new Expr.FloatImm(scalar, value)
            : new Expr.IntImm(scalar, (long) value);
    return type.isScalar() ? one : new Expr.Broadcast(one, type.lanes());
  }

  /**
   * {@return whether an expression is just this integer}
   *
   * @param e an expression
   * @param value of a constant
   */
  public static boolean isConst(Expr e, long value) {
    return e instanceof Expr.IntImm imm && imm.value() == value;
  }

  /**
   * {@return a + b, evaluated where both are constants, without zeros}
   *
   * @param a first summand
   * @param b second summand, of the same type
   */
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

  /**
   * {@return a + b, evaluated where a is a constant}
   *
   * @param a first summand
   * @param b second summand, made a constant of a's type
   */
  public static Expr add(Expr a, long b) {
    return add(a, constant(a.type(), b));
  }

  /**
   * {@return a − b, evaluated where both are constants, without zeros}
   *
   * @param a what is subtracted from
   * @param b what is subtracted, of the same type
   */
  public static Expr sub(Expr a, Expr b) {
    return isConst(b, 0) ? a : fold(BinaryOp.SUB, a, b);
  }

  /**
   * {@return a · b, evaluated where both are constants, without ones}
   *
   * @param a first factor
   * @param b second factor, of the same type
   */
  public static Expr mul(Expr a, Expr b) {
    if (isConst(a, 1) || isConst(b, 0)) {
      return b;
    }
    return isConst(b, 1) || isConst(a, 0) ? a : fold(BinaryOp.MUL, a, b);
  }

  /**
   * {@return a · b, evaluated where a is a constant}
   *
   * @param a first factor
   * @param b second factor, made a constant of a's type
   */
  public static Expr mul(Expr a, long b) {
    return mul(a, constant(a.type(), b));
  }

  /**
   * {@return a / b of integers, rounded toward minus infinity; evaluated where both are constants}
   *
   * @param a dividend
   * @param b divisor, of the same type
   */
  public static Expr div(Expr a, Expr b) {
    return isConst(b, 1) ? a : fold(BinaryOp.DIV, a, b);
  }

  /**
   * {@return a / b, as {@link #div(Expr, Expr)}}
   *
   * @param a dividend
   * @param b divisor, made a constant of a's type
   */
  public static Expr div(Expr a, long b) {
    return div(a, constant(a.type(), b));
  }

  /**
   * {@return what {@link #div(Expr, Expr)} leaves: of the divisor's sign, or 0}
   *
   * @param a dividend
   * @param b divisor, of the same type
   */
  public static Expr mod(Expr a, Expr b) {
    return isConst(b, 1) ? new Expr.IntImm(a.type(), 0) : fold(BinaryOp.MOD, a, b);
  }

  /**
   * {@return what {@link #div(Expr, Expr)} leaves: of the divisor's sign, or 0}
   *
   * @param a dividend
   * @param b divisor, made a constant of a's type
   */
  public static Expr mod(Expr a, long b) {
    return mod(a, constant(a.type(), b));
  }

  /**
   * {@return {@code ⌈a / b⌉} for a ≥ 0 and b &gt; 0}
   *
   * @param a dividend, not negative
   * @param b divisor, positive
   */
  public static Expr ceilDiv(Expr a, long b) {
    return div(add(a, b - 1), b);
  }

  /**
   * {@return the smaller of two, evaluated where both are constants}
   *
   * @param a one
   * @param b the other, of the same type
   */
  public static Expr min(Expr a, Expr b) {
    return fold(BinaryOp.MIN, a, b);
  }

  /**
   * {@return the larger of two, evaluated where both are constants}
   *
   * @param a one
   * @param b the other, of the same type
   */
  public static Expr max(Expr a, Expr b) {
    return fold(BinaryOp.MAX, a, b);
  }

  /**
   * {@return the bits of an integer that a mask has, evaluated where it is a constant}
   *
   * @param a an integer
   * @param b the mask, made a constant of a's type
   */
  public static Expr bitAnd(Expr a, long b) {
    return fold(BinaryOp.BIT_AND, a, constant(a.type(), b));
  }

  /**
   * {@return the bits that just one of two integers has, evaluated where both are constants}
   *
   * @param a one
   * @param b the other, of the same type
   */
  public static Expr bitXor(Expr a, Expr b) {
    return isConst(b, 0) ? a : fold(BinaryOp.BIT_XOR, a, b);
  }

  /**
   * {@return an integer shifted to the right, its sign kept where it has one}
   *
   * @param a the integer
   * @param b bits to shift by
   */
  public static Expr shr(Expr a, long b) {
    return b == 0 ? a : fold(BinaryOp.SHR, a, constant(a.type(), b));
  }

  /**
   * {@return whether a &lt; b, evaluated where both are constants}
   *
   * @param a left side
   * @param b right side, of the same type
   */
  public static Expr lt(Expr a, Expr b) {
    return fold(BinaryOp.LT, a, b);
  }

  /**
   * {@return whether a ≥ b, evaluated where both are constants}
   *
   * @param a left side
   * @param b right side, of the same type
   */
  public static Expr ge(Expr a, Expr b) {
    return fold(BinaryOp.GE, a, b);
  }

  /**
   * {@return whether a = b, evaluated where both are constants}
   *
   * @param a left side
   * @param b right side, of the same type
   */
  public static Expr eq(Expr a, Expr b) {
    return fold(BinaryOp.EQ, a, b);
  }

  /**
   * {@return whether both hold; just one where the other is constantly true}
   *
   * @param a a boolean
   * @param b another one
   */
  public static Expr and(Expr a, Expr b) {
    if (isConst(a, 1)) {
      return b;
    }
    return isConst(b, 1) ? a : fold(BinaryOp.AND, a, b);
  }

  /**
   * Evaluates an operator on integer constants, otherwise builds the node.
   *
   * @param op that takes the operands' type
   * @param a first operand
   * @param b second operand, of the same type
   * @return a constant, or the operator on both
   */
  public static Expr fold(BinaryOp op, Expr a, Expr b) {
    if (a instanceof Expr.IntImm x && b instanceof Expr.IntImm y && x.type().equals(y.type())) {
      Expr.IntImm folded = IntegerMath.fold(op, x, y);
      if (folded != null) {
        return folded;
      }
    }
    return new Expr.Binary(op, a, b);
  }

  /**
   * {@return then or otherwise; one of them alone where the condition is a constant}
   *
   * @param condition a boolean
   * @param then where it holds
   * @param otherwise where it does not, of the same type
   */
  public static Expr select(Expr condition, Expr then, Expr otherwise) {
    if (condition instanceof Expr.IntImm imm) {
      return imm.value() != 0 ? then : otherwise;
    }
    return new Expr.Select(condition, then, otherwise);
  }

  /**
   * {@return an expression converted; itself where the type is already right}
   *
   * @param dtype of the result's lanes
   * @param a what is converted
   */
  public static Expr cast(DType dtype, Expr a) {
    if (a.type().dtype() == dtype) {
      return a;
    }
    if (a instanceof Expr.FloatImm imm && dtype.isFloat()) {
      return new Expr.FloatImm(Type.of(dtype), imm.value());
    }
    return new Expr.Cast(a.type().withDType(dtype), a);
  }

  /**
   * {@return a mathematical function of arguments of one type}
   *
   * @param op the function
   * @param args as many as it takes, of one type
   */
  public static Expr call(MathOp op, Expr... args) {
    if (args.length != op.arity()) {
      throw new IllegalArgumentException(
          op + " takes " + op.arity() + " arguments, not " + args.length);
    }
    return new Expr.Call(op, List.of(args), args[0].type());
  }

  /**
   * {@return a · b + c, rounded once}
   *
   * @param a first factor
   * @param b second factor
   * @param c summand
   */
  public static Expr fma(Expr a, Expr b, Expr c) {
    return call(MathOp.FMA, a, b, c);
  }

  /**
   * {@return an element of a buffer}
   *
   * @param buffer that is read
   * @param indices one for each dimension
   */
  public static Expr load(Buffer buffer, Expr... indices) {
    return new Expr.Load(buffer, List.of(indices));
  }

  /**
   * {@return a statement that evaluates an intrinsic for its effect}
   *
   * @param intrinsic what is called
   * @param args as many as it takes
   */
  public static Stmt evaluate(Intrinsic intrinsic, Expr... args) {
    Type result = intrinsic.result();
    return new Stmt.Evaluate(
        new Expr.Call(intrinsic, List.of(args), result == null ? Type.BOOL : result));
  }
}
