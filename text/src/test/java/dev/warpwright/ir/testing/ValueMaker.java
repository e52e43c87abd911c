package dev.warpwright.ir.testing;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Makes random expressions of small variables and of given f32 values. */
final class ValueMaker {
  private static final double BOUND = 8;
  private static final BinaryOp[] COMPARISONS = {
    BinaryOp.EQ, BinaryOp.NE, BinaryOp.LT, BinaryOp.LE, BinaryOp.GT, BinaryOp.GE
  };

  private final RandomGenerator random;
  private final List<Var> vars;
  private final List<Expr> values = new ArrayList<>();

  ValueMaker(RandomGenerator random, List<Var> vars) {
    this.random = random;
    this.vars = List.copyOf(vars);
  }

  /** An f32 value to use. */
  void add(Expr value) {
    values.add(value);
  }

  /** An i32 of at most some ten thousands, if the variables are small. */
  private Expr integer(int depth) {
    if (depth == 0 || random.nextInt(4) == 0) {
      return random.nextInt(3) == 0
          ? Exprs.i32(random.nextInt(-9, 10))
          : vars.get(random.nextInt(vars.size()));
    }
    Expr a = integer(depth - 1);
    return switch (random.nextInt(9)) {
      case 0, 1 -> new Expr.Binary(BinaryOp.ADD, a, integer(depth - 1));
      case 2 -> new Expr.Binary(BinaryOp.SUB, a, integer(depth - 1));
      case 3 -> new Expr.Binary(BinaryOp.MUL, a, Exprs.i32(random.nextInt(-4, 9)));
      case 4 -> new Expr.Binary(BinaryOp.DIV, a, Exprs.i32(random.nextInt(1, 9)));
      case 5 -> new Expr.Binary(BinaryOp.MOD, a, Exprs.i32(random.nextInt(1, 9)));
      case 6 -> new Expr.Binary(BinaryOp.MIN, a, integer(depth - 1));
      case 7 -> new Expr.Binary(BinaryOp.MAX, a, integer(depth - 1));
      default -> new Expr.Select(condition(0), a, integer(depth - 1));
    };
  }

  /** {@code 0 ≤ index < extent}. */
  Expr index(long extent) {
    return new Expr.Binary(BinaryOp.MOD, integer(3), Exprs.i32(extent));
  }

  Expr condition(int depth) {
    if (depth > 0 && random.nextInt(3) == 0) {
      return switch (random.nextInt(3)) {
        case 0 -> new Expr.Binary(BinaryOp.AND, condition(depth - 1), condition(depth - 1));
        case 1 -> new Expr.Binary(BinaryOp.OR, condition(depth - 1), condition(depth - 1));
        default -> new Expr.Unary(UnaryOp.NOT, condition(depth - 1));
      };
    }
    return new Expr.Binary(
        COMPARISONS[random.nextInt(COMPARISONS.length)], integer(depth), integer(depth));
  }

  /** An f32 between -8 and 8. */
  Expr bounded(int depth) {
    return Exprs.max(Exprs.min(real(depth), Exprs.f32(BOUND)), Exprs.f32(-BOUND));
  }

  private Expr real(int depth) {
    if (depth == 0 || random.nextInt(5) == 0) {
      return values.isEmpty() || random.nextInt(3) == 0
          ? Exprs.f32(random.nextInt(-32, 33) / 8.0)
          : values.get(random.nextInt(values.size()));
    }
    Expr a = real(depth - 1);
    Expr b = real(depth - 1);
    return switch (random.nextInt(11)) {
      case 0, 1 -> new Expr.Binary(BinaryOp.ADD, a, b);
      case 2 -> new Expr.Binary(BinaryOp.SUB, a, b);
      case 3 -> new Expr.Binary(BinaryOp.MUL, a, b);
      case 4, 5 -> Exprs.fma(a, b, real(depth - 1));
      case 6 -> new Expr.Binary(random.nextBoolean() ? BinaryOp.MIN : BinaryOp.MAX, a, b);
      case 7 -> new Expr.Select(condition(1), a, b);
      case 8 -> new Expr.Cast(Type.F32, integer(2));
      case 9 ->
          Exprs.cast(DType.F32, new Expr.Cast(random.nextBoolean() ? Type.F16 : Type.BF16, a));
      default ->
          random.nextBoolean()
              ? new Expr.Unary(UnaryOp.NEG, a)
              : Exprs.call(random.nextBoolean() ? MathOp.ABS : MathOp.FLOOR, a);
    };
  }
}
