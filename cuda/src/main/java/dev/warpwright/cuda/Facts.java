package dev.warpwright.cuda;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Simplifier;
import java.util.HashMap;
import java.util.Map;

/**
 * What is known of integer expressions where the printer stands: bounds, and numbers that divide
 * them. It decides whether C's division gives what the IR's does, and whether a vector access is
 * aligned.
 */
final class Facts {
  private static final long LARGE = 1L << 40;

  private final Map<Var, Long> divisors = new HashMap<>();
  private Bounds bounds;

  Facts(Bounds bounds) {
    this.bounds = bounds;
  }

  Bounds bounds() {
    return bounds;
  }

  /** Changes the bounds, as at the begin or end of a scope; gives the old ones. */
  Bounds enter(Bounds inner) {
    Bounds outer = bounds;
    bounds = inner;
    return outer;
  }

  /** Records that a variable has the value of an expression. */
  void bind(Var var, Expr value) {
    divisors.put(var, divisor(value));
    bounds = bounds.withValue(var, value);
  }

  Expr simplified(Expr e) {
    return new Simplifier(bounds).expr(e);
  }

  boolean isNonNegative(Expr e) {
    return bounds.of(e).min() >= 0;
  }

  boolean isMultiple(Expr e, long n) {
    return divisor(e) % n == 0;
  }

  /** A number that divides the value; 0 for the value 0, which everything divides. */
  private long divisor(Expr e) {
    return switch (e) {
      case Expr.IntImm imm -> Math.abs(imm.value());
      case Var v -> divisors.getOrDefault(v, 1L);
      case Expr.Binary b when b.type().dtype().isInt() -> divisor(b);
      case Expr.Select s -> gcd(divisor(s.then()), divisor(s.otherwise()));
      default -> 1;
    };
  }

  private long divisor(Expr.Binary b) {
    long x = divisor(b.a());
    long y = divisor(b.b());
    return switch (b.op()) {
      case ADD, SUB, MIN, MAX -> gcd(x, y);
      case MUL -> x != 0 && y > LARGE / x ? Math.max(x, y) : x * y;
      case DIV -> b.b() instanceof Expr.IntImm c && c.value() > 0 ? quotient(x, c.value()) : 1;
      case MOD -> b.b() instanceof Expr.IntImm c && c.value() > 0 ? gcd(x, c.value()) : 1;
      case SHL ->
          b.b() instanceof Expr.IntImm c && c.value() >= 0 && c.value() < 31 && x < LARGE >> 31
              ? x << c.value()
              : 1;
      case SHR ->
          b.b() instanceof Expr.IntImm c && c.value() >= 0 && c.value() < 31
              ? quotient(x, 1L << c.value())
              : 1;
      case BIT_AND -> Math.max(lowBit(x), lowBit(y));
      case BIT_OR, BIT_XOR -> Math.min(lowBit(x), lowBit(y));
      case EQ, NE, LT, LE, GT, GE, AND, OR -> 1;
    };
  }

  private static long quotient(long divisor, long c) {
    return divisor % c == 0 ? divisor / c : 1;
  }

  private static long lowBit(long divisor) {
    return divisor == 0 ? LARGE : Long.lowestOneBit(divisor);
  }

  private static long gcd(long a, long b) {
    while (b != 0) {
      long rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
}
