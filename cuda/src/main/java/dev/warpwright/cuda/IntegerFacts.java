package dev.warpwright.cuda;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Type;
import dev.warpwright.ir.Var;
import java.util.HashMap;
import java.util.Map;

/**
 * What is known of integer expressions: bounds, and a number that divides the value. The printer
 * needs it to write a floor division as C's, and to know that a vector access is aligned.
 */
final class IntegerFacts {
  /**
   * {@code min ≤ value ≤ max}, and value is a multiple of {@code divisor} (0 for the value 0, which
   * is a multiple of everything).
   */
  record Fact(long min, long max, long divisor) {
    boolean isNonNegative() {
      return min >= 0;
    }

    boolean isMultipleOf(long n) {
      return divisor % n == 0;
    }
  }

  private static final long LARGE_DIVISOR = 1L << 40;

  private final Map<Var, Fact> vars = new HashMap<>();

  /** Records bounds of a variable. */
  void bound(Var var, long min, long max) {
    vars.put(var, new Fact(min, max, min == max ? Math.abs(min) : 1));
  }

  /** Records that a variable has the value of an expression. */
  void bind(Var var, Expr value) {
    vars.put(var, of(value));
  }

  /** Facts of a scalar expression; nothing beyond its type for anything but integers. */
  Fact of(Expr e) {
    Fact range = range(e.type());
    Fact fact =
        switch (e) {
          case Expr.IntImm imm -> new Fact(imm.value(), imm.value(), Math.abs(imm.value()));
          case Var v -> vars.getOrDefault(v, range);
          case Expr.Binary b when b.type().dtype().isInt() ->
              binary(b.op(), of(b.a()), of(b.b()), range);
          case Expr.Select s -> union(of(s.then()), of(s.otherwise()));
          case Expr.Cast c when c.type().dtype().isInt() && fits(of(c.a()), range) -> of(c.a());
          case Expr.Binary b -> range;
          case Expr.Cast c -> range;
          case Expr.FloatImm imm -> range;
          case Expr.Unary u -> range;
          case Expr.Bitcast b -> range;
          case Expr.Load l -> range;
          case Expr.AddressOf a -> range;
          case Expr.Ramp r -> range;
          case Expr.Broadcast b -> range;
          case Expr.Call c -> range;
        };
    // Index arithmetic does not overflow, so what leaves the type's range cannot happen.
    return new Fact(
        Math.clamp(fact.min, range.min, range.max),
        Math.clamp(fact.max, range.min, range.max),
        fact.divisor);
  }

  private static boolean fits(Fact fact, Fact range) {
    return fact.min >= range.min && fact.max <= range.max;
  }

  private static Fact range(Type type) {
    DType dtype = type.dtype();
    return switch (dtype) {
      case BOOL -> new Fact(0, 1, 1);
      case I8, U8, I32, U32 -> {
        int bits = dtype.bits();
        yield dtype.isUnsigned()
            ? new Fact(0, (1L << bits) - 1, 1)
            : new Fact(-(1L << (bits - 1)), (1L << (bits - 1)) - 1, 1);
      }
      case U64 -> new Fact(0, Long.MAX_VALUE, 1);
      case I64, F8E4M3, F8E5M2, F16, BF16, F32, F64, MBARRIER, HANDLE ->
          new Fact(Long.MIN_VALUE, Long.MAX_VALUE, 1);
    };
  }

  private static Fact binary(BinaryOp op, Fact a, Fact b, Fact range) {
    return switch (op) {
      case ADD -> new Fact(addSat(a.min, b.min), addSat(a.max, b.max), gcd(a.divisor, b.divisor));
      case SUB -> new Fact(addSat(a.min, -b.max), addSat(a.max, -b.min), gcd(a.divisor, b.divisor));
      case MUL -> times(a, b);
      case DIV -> b.min == b.max && b.min > 0 ? dividedBy(a, b.min) : range;
      case MOD -> b.min == b.max && b.min > 0 ? modulo(a, b.min) : range;
      case SHL ->
          b.min == b.max && b.min >= 0 && b.min < 31
              ? times(a, new Fact(1L << b.min, 1L << b.min, 1L << b.min))
              : range;
      case SHR -> b.min == b.max && b.min >= 0 && b.min < 31 ? dividedBy(a, 1L << b.min) : range;
      case MIN ->
          new Fact(Math.min(a.min, b.min), Math.min(a.max, b.max), gcd(a.divisor, b.divisor));
      case MAX ->
          new Fact(Math.max(a.min, b.min), Math.max(a.max, b.max), gcd(a.divisor, b.divisor));
      case BIT_AND -> {
        long divisor = Math.max(lowBits(a.divisor), lowBits(b.divisor));
        if (b.isNonNegative() || a.isNonNegative()) {
          long limit =
              Math.min(
                  a.isNonNegative() ? a.max : Long.MAX_VALUE,
                  b.isNonNegative() ? b.max : Long.MAX_VALUE);
          yield new Fact(0, limit, divisor);
        }
        yield new Fact(range.min, range.max, divisor);
      }
      case BIT_OR, BIT_XOR -> {
        long divisor = Math.min(lowBits(a.divisor), lowBits(b.divisor));
        long bits = Math.max(a.max, b.max);
        yield a.isNonNegative() && b.isNonNegative()
            ? new Fact(0, bits == 0 ? 0 : (Long.highestOneBit(bits) << 1) - 1, divisor)
            : new Fact(range.min, range.max, divisor);
      }
      case EQ, NE, LT, LE, GT, GE, AND, OR -> range;
    };
  }

  private static Fact union(Fact a, Fact b) {
    return new Fact(Math.min(a.min, b.min), Math.max(a.max, b.max), gcd(a.divisor, b.divisor));
  }

  private static Fact times(Fact a, Fact b) {
    long[] corners = {
      mulSat(a.min, b.min), mulSat(a.min, b.max), mulSat(a.max, b.min), mulSat(a.max, b.max)
    };
    long min = Long.MAX_VALUE;
    long max = Long.MIN_VALUE;
    for (long corner : corners) {
      min = Math.min(min, corner);
      max = Math.max(max, corner);
    }
    boolean tooLarge = a.divisor != 0 && b.divisor > LARGE_DIVISOR / a.divisor;
    return new Fact(min, max, tooLarge ? Math.max(a.divisor, b.divisor) : a.divisor * b.divisor);
  }

  private static Fact dividedBy(Fact a, long c) {
    return new Fact(
        Math.floorDiv(a.min, c), Math.floorDiv(a.max, c), a.isMultipleOf(c) ? a.divisor / c : 1);
  }

  private static Fact modulo(Fact a, long c) {
    if (a.min >= 0 && a.max < c) {
      return a;
    }
    return a.isMultipleOf(c) ? new Fact(0, 0, 0) : new Fact(0, c - 1, gcd(a.divisor, c));
  }

  private static long lowBits(long divisor) {
    return divisor == 0 ? LARGE_DIVISOR : Long.lowestOneBit(divisor);
  }

  private static long gcd(long a, long b) {
    while (b != 0) {
      long rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }

  private static long addSat(long a, long b) {
    long sum = a + b;
    if (((a ^ sum) & (b ^ sum)) < 0) {
      return a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    return sum;
  }

  private static long mulSat(long a, long b) {
    if (Math.multiplyHigh(a, b) != (a * b) >> 63) {
      return (a < 0) == (b < 0) ? Long.MAX_VALUE : Long.MIN_VALUE;
    }
    return a * b;
  }
}
