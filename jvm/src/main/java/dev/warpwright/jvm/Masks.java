package dev.warpwright.jvm;

import static java.lang.constant.ConstantDescs.CD_boolean;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;

/** Writes conditions on vectors, as masks, and what chooses by them. */
final class Masks {
  private static final ClassDesc COMPARISON = JvmTypes.OPERATORS.nested("Comparison");

  private final VectorEmitter vectors;
  private final CodeBuilder code;

  Masks(VectorEmitter vectors, CodeBuilder code) {
    this.vectors = vectors;
    this.code = code;
  }

  /** Stack: a vector, another, a mask; becomes the first, where the mask is set the other. */
  void blend(Type type) {
    ClassDesc vector = JvmTypes.vectorDesc(type.dtype());
    code.invokevirtual(vector, "blend", MethodTypeDesc.of(vector, JvmTypes.VECTOR, JvmTypes.MASK));
  }

  void mask(Runnable a, Runnable b, String operator, Type compared, Type use) {
    ClassDesc vector = JvmTypes.vectorDesc(compared.dtype());
    a.run();
    code.getstatic(JvmTypes.OPERATORS, operator, COMPARISON);
    b.run();
    code.invokevirtual(
        vector, "compare", MethodTypeDesc.of(JvmTypes.MASK, COMPARISON, JvmTypes.VECTOR));
    if (!vector.equals(JvmTypes.vectorDesc(use.dtype()))) {
      vectors.species(use);
      code.invokevirtual(JvmTypes.MASK, "cast", MethodTypeDesc.of(JvmTypes.MASK, JvmTypes.SPECIES));
    }
  }

  /** The condition as a mask for vectors of type {@code use}. */
  private void mask(Expr condition, Type use) {
    if (condition instanceof Expr.Binary b && b.op().isComparison()) {
      boolean unsigned = b.a().type().dtype().isUnsigned();
      String operator =
          switch (b.op()) {
            case EQ, NE -> b.op().name();
            default -> (unsigned ? "U" : "") + b.op().name();
          };
      mask(() -> vectors.emit(b.a()), () -> vectors.emit(b.b()), operator, b.a().type(), use);
    } else if (condition instanceof Expr.Binary b
        && (b.op() == BinaryOp.AND || b.op() == BinaryOp.OR)) {
      mask(b.a(), use);
      mask(b.b(), use);
      code.invokevirtual(
          JvmTypes.MASK,
          b.op() == BinaryOp.AND ? "and" : "or",
          MethodTypeDesc.of(JvmTypes.MASK, JvmTypes.MASK));
    } else if (condition instanceof Expr.Unary u && u.op() == UnaryOp.NOT) {
      mask(u.a(), use);
      code.invokevirtual(JvmTypes.MASK, "not", MethodTypeDesc.of(JvmTypes.MASK));
    } else if (condition instanceof Expr.Broadcast(Expr value, int lanes)) {
      vectors.species(use);
      vectors.scalars().emit(value);
      code.invokeinterface(
          JvmTypes.SPECIES, "maskAll", MethodTypeDesc.of(JvmTypes.MASK, CD_boolean));
    } else {
      throw JvmTypes.refused("a condition on vectors other than comparisons: " + condition);
    }
  }

  /**
   * A select evaluates both sides, unless one of them is slow (a function without vector form):
   * that one only where a lane needs it.
   */
  void select(Expr.Select s) {
    Type type = s.type();
    if (s.condition().type().isScalar()) {
      throw JvmTypes.refused("a select of vectors by a scalar");
    }
    if (!isSlow(s.otherwise())) {
      vectors.emit(s.otherwise());
      vectors.emit(s.then());
      mask(s.condition(), type);
      blend(type);
      return;
    }
    vectors.emit(s.then());
    int result = vectors.keep();
    mask(s.condition(), type);
    int mask = vectors.keep();
    Label done = code.newLabel();
    code.aload(mask)
        .invokevirtual(JvmTypes.MASK, "allTrue", MethodTypeDesc.of(CD_boolean))
        .ifne(done);
    vectors.emit(s.otherwise());
    code.aload(result).aload(mask);
    blend(type);
    code.astore(result).labelBinding(done).aload(result);
  }

  private static boolean isSlow(Expr e) {
    boolean[] slow = {false};
    Walk.expressions(
        e, x -> slow[0] |= x instanceof Expr.Call c && c.op() instanceof MathOp m && isSlow(m));
    return slow[0];
  }

  private static boolean isSlow(MathOp op) {
    return switch (op) {
      case EXP, EXP2, LOG, SIN, COS, TANH, ERF, POW, FLOOR, CEIL -> true;
      case EXP2_APPROX, TANH_APPROX, SIN_APPROX, COS_APPROX -> true;
      case FMA, SQRT, RSQRT, ABS, RCP_APPROX -> false;
    };
  }
}
