package dev.warpwright.ir.arith;

import dev.warpwright.ir.type.DType;
import java.util.function.LongBinaryOperator;

/**
 * The integers {@code min ≤ x ≤ max}. {@link Long#MIN_VALUE} as {@code min} and {@link
 * Long#MAX_VALUE} as {@code max} mean that there is no bound; arithmetic saturates there.
 */
public record Interval(long min, long max) {
  public static final Interval ALL = new Interval(Long.MIN_VALUE, Long.MAX_VALUE);
  public static final Interval BOOL = new Interval(0, 1);

  public Interval {
    if (min > max) {
      throw new IllegalArgumentException("empty interval " + min + ".." + max);
    }
  }

  public static Interval of(long value) {
    return new Interval(value, value);
  }

  /** Everything that an integer or boolean type can hold; {@link #ALL} for the rest. */
  public static Interval ofType(DType dtype) {
    return switch (dtype) {
      case BOOL -> BOOL;
      case I8 -> new Interval(Byte.MIN_VALUE, Byte.MAX_VALUE);
      case U8 -> new Interval(0, 255);
      case I32 -> new Interval(Integer.MIN_VALUE, Integer.MAX_VALUE);
      case U32 -> new Interval(0, 0xFFFF_FFFFL);
      case I64, U64, F8E4M3, F8E5M2, F16, BF16, F32, F64, MBARRIER, HANDLE -> ALL;
    };
  }

  public boolean isPoint() {
    return min == max;
  }

  /** Whether there is a bound on both sides. */
  public boolean isBounded() {
    return min != Long.MIN_VALUE && max != Long.MAX_VALUE;
  }

  public boolean contains(long value) {
    return min <= value && value <= max;
  }

  /** Whether every value of the other interval is in this one. */
  public boolean covers(Interval other) {
    return min <= other.min && other.max <= max;
  }

  /** The least interval that covers both. */
  public Interval union(Interval other) {
    return new Interval(Math.min(min, other.min), Math.max(max, other.max));
  }

  /** Values in both; this interval unchanged if there is none. */
  public Interval intersect(Interval other) {
    long low = Math.max(min, other.min);
    long high = Math.min(max, other.max);
    return low <= high ? new Interval(low, high) : this;
  }

  public Interval plus(Interval other) {
    return new Interval(addLow(min, other.min), addHigh(max, other.max));
  }

  public Interval negated() {
    return new Interval(negate(max), negate(min));
  }

  public Interval minus(Interval other) {
    return plus(other.negated());
  }

  public Interval times(long factor) {
    return times(of(factor));
  }

  public Interval times(Interval other) {
    return corners(other, Interval::multiply);
  }

  /** Quotients rounded toward minus infinity; {@link #ALL} where the divisor may be zero. */
  public Interval floorDiv(Interval divisor) {
    return divisor.contains(0) ? ALL : corners(divisor, Interval::divide);
  }

  /** Remainders with the sign of the divisor; {@link #ALL} where that may be zero or negative. */
  public Interval floorMod(Interval divisor) {
    if (divisor.min <= 0) {
      return ALL;
    }
    if (divisor.isPoint() && isBounded()) {
      long c = divisor.min;
      if (Math.floorDiv(min, c) == Math.floorDiv(max, c)) {
        return new Interval(Math.floorMod(min, c), Math.floorMod(max, c));
      }
    }
    long most = divisor.max == Long.MAX_VALUE ? Long.MAX_VALUE : divisor.max - 1;
    return min >= 0 ? new Interval(0, Math.min(most, max)) : new Interval(0, most);
  }

  public Interval min(Interval other) {
    return new Interval(Math.min(min, other.min), Math.min(max, other.max));
  }

  public Interval max(Interval other) {
    return new Interval(Math.max(min, other.min), Math.max(max, other.max));
  }

  private Interval corners(Interval other, LongBinaryOperator op) {
    long a = op.applyAsLong(min, other.min);
    long b = op.applyAsLong(min, other.max);
    long c = op.applyAsLong(max, other.min);
    long d = op.applyAsLong(max, other.max);
    return new Interval(
        Math.min(Math.min(a, b), Math.min(c, d)), Math.max(Math.max(a, b), Math.max(c, d)));
  }

  private static boolean infinite(long x) {
    return x == Long.MIN_VALUE || x == Long.MAX_VALUE;
  }

  private static long addLow(long a, long b) {
    return a == Long.MIN_VALUE || b == Long.MIN_VALUE ? Long.MIN_VALUE : add(a, b);
  }

  private static long addHigh(long a, long b) {
    return a == Long.MAX_VALUE || b == Long.MAX_VALUE ? Long.MAX_VALUE : add(a, b);
  }

  private static long add(long a, long b) {
    long sum = a + b;
    boolean overflow = ((a ^ sum) & (b ^ sum)) < 0;
    return overflow ? (a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE) : sum;
  }

  private static long negate(long x) {
    return x == Long.MIN_VALUE ? Long.MAX_VALUE : x == Long.MAX_VALUE ? Long.MIN_VALUE : -x;
  }

  private static long multiply(long a, long b) {
    if (a == 0 || b == 0) {
      return 0;
    }
    long high = Math.multiplyHigh(a, b);
    long low = a * b;
    boolean fits = (high == 0 && low >= 0) || (high == -1 && low < 0);
    return fits && !infinite(a) && !infinite(b)
        ? low
        : (a < 0) == (b < 0) ? Long.MAX_VALUE : Long.MIN_VALUE;
  }

  private static long divide(long a, long b) {
    if (infinite(a)) {
      return (a < 0) == (b < 0) ? Long.MAX_VALUE : Long.MIN_VALUE;
    }
    return infinite(b) ? ((a < 0) == (b < 0) || a == 0 ? 0 : -1) : Math.floorDiv(a, b);
  }

  @Override
  public String toString() {
    return (min == Long.MIN_VALUE ? "-∞" : min) + ".." + (max == Long.MAX_VALUE ? "∞" : max);
  }
}
