package dev.warpwright.model.graph;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.workload.tensor.Ops;
import java.util.List;

/**
 * Elementwise operators as f32 expressions, written so that they are accurate for small results too
 * and nothing overflows on the way.
 */
final class Formulas {
  private Formulas() {}

  /** The operator applied to as many operands as it takes. */
  static Expr apply(ElementwiseOp op, List<Expr> x) {
    Expr a = x.getFirst();
    return switch (op) {
      case ADD -> Exprs.add(a, x.get(1));
      case SUB -> Exprs.sub(a, x.get(1));
      case MUL -> Exprs.mul(a, x.get(1));
      case DIV -> Exprs.div(a, x.get(1));
      case POW -> power(a, x.get(1));
      case MIN -> extreme(a, x.get(1), true);
      case MAX -> extreme(a, x.get(1), false);
      case GREATER -> number(new Expr.Binary(BinaryOp.GT, a, x.get(1)));
      case GREATER_EQUAL -> number(new Expr.Binary(BinaryOp.GE, a, x.get(1)));
      case LESS -> number(new Expr.Binary(BinaryOp.LT, a, x.get(1)));
      case LESS_EQUAL -> number(new Expr.Binary(BinaryOp.LE, a, x.get(1)));
      case EQUAL -> number(new Expr.Binary(BinaryOp.EQ, a, x.get(1)));
      case NOT_EQUAL -> number(new Expr.Binary(BinaryOp.NE, a, x.get(1)));
      case AND -> Exprs.select(truth(a), number(truth(x.get(1))), Exprs.f32(0));
      case OR -> Exprs.select(truth(a), Exprs.f32(1), number(truth(x.get(1))));
      case XOR -> Exprs.select(truth(a), negated(x.get(1)), number(truth(x.get(1))));
      case NOT -> negated(a);
      case WHERE -> Exprs.select(truth(a), x.get(1), x.get(2));
      case IDENTITY -> a;
      case NEG -> Ops.negate(a);
      case ABS -> Exprs.call(MathOp.ABS, a);
      case SIGN ->
          Exprs.select(
              Exprs.lt(a, Exprs.f32(0)),
              Exprs.f32(-1),
              Exprs.select(Exprs.lt(Exprs.f32(0), a), Exprs.f32(1), a));
      case FLOOR -> Exprs.call(MathOp.FLOOR, a);
      case CEIL -> Exprs.call(MathOp.CEIL, a);
      case RECIPROCAL -> Exprs.div(Exprs.f32(1), a);
      case SQRT -> Exprs.call(MathOp.SQRT, a);
      case EXP -> Exprs.call(MathOp.EXP, a);
      case LOG -> Exprs.call(MathOp.LOG, a);
      case LEAKY_RELU -> Exprs.select(Exprs.lt(a, Exprs.f32(0)), Exprs.mul(a, x.get(1)), a);
      case ELU -> Ops.elu(a, x.get(1));
    };
  }

  private static Expr number(Expr condition) {
    return Exprs.select(condition, Exprs.f32(1), Exprs.f32(0));
  }

  private static Expr negated(Expr a) {
    return Exprs.select(truth(a), Exprs.f32(0), Exprs.f32(1));
  }

  /** Whether a number is true; the condition itself, if the number was made from one. */
  private static Expr truth(Expr a) {
    if (a instanceof Expr.Select(Expr condition, Expr.FloatImm one, Expr.FloatImm zero)
        && one.value() == 1
        && zero.value() == 0) {
      return condition;
    }
    return new Expr.Binary(BinaryOp.NE, a, Exprs.f32(0));
  }

  /** Small whole exponents by multiplication, which is exact for negative bases too. */
  private static Expr power(Expr a, Expr exponent) {
    if (exponent instanceof Expr.FloatImm imm) {
      if (imm.value() == 1) {
        return a;
      }
      if (imm.value() == 2) {
        return Exprs.mul(a, a);
      }
      if (imm.value() == 3) {
        return Exprs.mul(Exprs.mul(a, a), a);
      }
      if (imm.value() == -1) {
        return Exprs.div(Exprs.f32(1), a);
      }
      if (imm.value() == 0.5) {
        return Exprs.call(MathOp.SQRT, a);
      }
      if (imm.value() == -0.5) {
        return Exprs.div(Exprs.f32(1), Exprs.call(MathOp.SQRT, a));
      }
    }
    return Exprs.call(MathOp.POW, a, exponent);
  }

  /** The smaller or larger of the two; NaN if either is NaN, unlike the IR's min and max. */
  private static Expr extreme(Expr a, Expr b, boolean smaller) {
    Expr chosen = smaller ? Exprs.min(a, b) : Exprs.max(a, b);
    Expr unlessB = b instanceof Expr.FloatImm ? chosen : Exprs.select(isNan(b), b, chosen);
    return a instanceof Expr.FloatImm ? unlessB : Exprs.select(isNan(a), a, unlessB);
  }

  private static Expr isNan(Expr a) {
    return new Expr.Binary(BinaryOp.NE, a, a);
  }
}
