package dev.warpwright.sim.expr;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A sum of scalar integer variables times constants, plus a constant: the usual index. It is
 * evaluated in 64 bits, which is right because index arithmetic must not overflow.
 */
public record AffineIndex(long constant, Map<Var, Long> terms) {

  /** The expression in this form, or null. */
  public static @Nullable AffineIndex of(Expr e) {
    return switch (e) {
      case Expr.IntImm imm -> new AffineIndex(imm.value(), Map.of());
      case Var v ->
          v.type().isScalar() && v.type().dtype().isInt() && v.type().dtype() != DType.U64
              ? new AffineIndex(0, Map.of(v, 1L))
              : null;
      case Expr.Binary(BinaryOp op, Expr a, Expr b) -> binary(op, of(a), of(b));
      case Expr.Unary u -> null;
      case Expr.FloatImm imm -> null;
      case Expr.Select s -> null;
      case Expr.Cast c -> null;
      case Expr.Bitcast c -> null;
      case Expr.Load l -> null;
      case Expr.AddressOf a -> null;
      case Expr.Ramp r -> null;
      case Expr.Broadcast b -> null;
      case Expr.Call c -> null;
    };
  }

  private static @Nullable AffineIndex binary(
      BinaryOp op, @Nullable AffineIndex a, @Nullable AffineIndex b) {
    if (a == null || b == null) {
      return null;
    }
    return switch (op) {
      case ADD -> a.plus(b, 1);
      case SUB -> a.plus(b, -1);
      case MUL ->
          b.terms.isEmpty() ? a.times(b.constant) : a.terms.isEmpty() ? b.times(a.constant) : null;
      case DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR -> null;
      case EQ, NE, LT, LE, GT, GE, AND, OR -> null;
    };
  }

  private AffineIndex plus(AffineIndex b, long factor) {
    Map<Var, Long> sum = new LinkedHashMap<>(terms);
    b.terms.forEach((v, c) -> sum.merge(v, c * factor, Long::sum));
    sum.values().removeIf(c -> c == 0);
    return new AffineIndex(constant + b.constant * factor, sum);
  }

  private AffineIndex times(long factor) {
    return new AffineIndex(0, Map.of()).plus(this, factor);
  }

  /** The form compiled. */
  LongExpr compile(Symbols symbols) {
    int n = terms.size();
    int[] slots = new int[n];
    long[] factors = new long[n];
    int i = 0;
    for (Map.Entry<Var, Long> term : terms.entrySet()) {
      slots[i] = symbols.slot(term.getKey());
      factors[i++] = term.getValue();
    }
    long c = constant;
    if (n == 0) {
      return f -> c;
    }
    int s0 = slots[0];
    long f0 = factors[0];
    if (n == 1) {
      return f0 == 1 && c == 0 ? f -> f.ints[s0] : f -> f.ints[s0] * f0 + c;
    }
    int s1 = slots[1];
    long f1 = factors[1];
    if (n == 2) {
      return f -> f.ints[s0] * f0 + f.ints[s1] * f1 + c;
    }
    return f -> {
      long sum = c;
      for (int k = 0; k < slots.length; k++) {
        sum += f.ints[slots[k]] * factors[k];
      }
      return sum;
    };
  }
}
