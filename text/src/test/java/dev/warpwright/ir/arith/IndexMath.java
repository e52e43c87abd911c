package dev.warpwright.ir.arith;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/** Evaluates integer expressions, and makes random ones. */
final class IndexMath {
  private IndexMath() {}

  /**
   * The value.
   *
   * @throws ArithmeticException if a part of it does not fit into 32 bits: then it has none
   */
  static long eval(Expr e, Map<Var, Long> values) {
    return Math.toIntExact(exact(e, values));
  }

  private static long exact(Expr e, Map<Var, Long> values) {
    return switch (e) {
      case Var v -> values.get(v);
      case Expr.IntImm imm -> imm.value();
      case Expr.Select s ->
          eval(s.condition(), values) != 0 ? eval(s.then(), values) : eval(s.otherwise(), values);
      case Expr.Unary u ->
          switch (u.op()) {
            case NEG -> -eval(u.a(), values);
            case NOT -> 1 - eval(u.a(), values);
            case BIT_NOT -> ~eval(u.a(), values);
          };
      case Expr.Binary b -> {
        long x = eval(b.a(), values);
        long y = eval(b.b(), values);
        yield switch (b.op()) {
          case ADD -> x + y;
          case SUB -> x - y;
          case MUL -> x * y;
          case DIV -> Math.floorDiv(x, y);
          case MOD -> Math.floorMod(x, y);
          case MIN -> Math.min(x, y);
          case MAX -> Math.max(x, y);
          case BIT_AND, AND -> x & y;
          case BIT_OR, OR -> x | y;
          case BIT_XOR -> x ^ y;
          case SHL -> x << y;
          case SHR -> x >> y;
          case EQ -> x == y ? 1 : 0;
          case NE -> x != y ? 1 : 0;
          case LT -> x < y ? 1 : 0;
          case LE -> x <= y ? 1 : 0;
          case GT -> x > y ? 1 : 0;
          case GE -> x >= y ? 1 : 0;
        };
      }
      default -> throw new IllegalArgumentException("cannot evaluate " + e);
    };
  }

  private static final BinaryOp[] COMPARISONS = {
    BinaryOp.EQ, BinaryOp.NE, BinaryOp.LT, BinaryOp.LE, BinaryOp.GT, BinaryOp.GE
  };

  /** A random integer expression; divisors are not zero. */
  static Expr random(RandomGenerator random, List<Var> vars, int depth) {
    if (depth == 0 || random.nextInt(8) == 0) {
      return random.nextInt(3) == 0
          ? Exprs.i32(random.nextInt(-20, 21))
          : vars.get(random.nextInt(vars.size()));
    }
    Expr a = random(random, vars, depth - 1);
    int choice = random.nextInt(16);
    return switch (choice) {
      case 0, 1, 2 -> new Expr.Binary(BinaryOp.ADD, a, random(random, vars, depth - 1));
      case 3, 4 -> new Expr.Binary(BinaryOp.SUB, a, random(random, vars, depth - 1));
      case 5, 6 -> new Expr.Binary(BinaryOp.MUL, a, Exprs.i32(random.nextInt(-9, 10)));
      case 7 -> new Expr.Binary(BinaryOp.MUL, random(random, vars, 1), random(random, vars, 1));
      case 8, 9 -> new Expr.Binary(BinaryOp.DIV, a, divisor(random));
      case 10, 11 -> new Expr.Binary(BinaryOp.MOD, a, divisor(random));
      case 12 -> new Expr.Binary(BinaryOp.MIN, a, random(random, vars, depth - 1));
      case 13 -> new Expr.Binary(BinaryOp.MAX, a, random(random, vars, depth - 1));
      case 14 ->
          new Expr.Select(condition(random, vars, depth - 1), a, random(random, vars, depth - 1));
      default ->
          random.nextBoolean()
              ? new Expr.Unary(UnaryOp.NEG, a)
              : new Expr.Binary(BinaryOp.BIT_AND, a, Exprs.i32(7));
    };
  }

  private static Expr divisor(RandomGenerator random) {
    int[] divisors = {1, 2, 3, 4, 6, 8, 12, 16, -1, -2, -3, 5};
    return Exprs.i32(divisors[random.nextInt(divisors.length)]);
  }

  static Expr condition(RandomGenerator random, List<Var> vars, int depth) {
    if (depth > 0 && random.nextInt(4) == 0) {
      Expr a = condition(random, vars, depth - 1);
      return switch (random.nextInt(3)) {
        case 0 -> new Expr.Binary(BinaryOp.AND, a, condition(random, vars, depth - 1));
        case 1 -> new Expr.Binary(BinaryOp.OR, a, condition(random, vars, depth - 1));
        default -> new Expr.Unary(UnaryOp.NOT, a);
      };
    }
    return new Expr.Binary(
        COMPARISONS[random.nextInt(COMPARISONS.length)],
        random(random, vars, depth),
        random(random, vars, depth));
  }
}
