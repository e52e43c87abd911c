package dev.warpwright.sim.expr;

/** Three extents of a launch, or an index within them. */
public record Index3(long x, long y, long z) {
  public static Index3 of(long[] values) {
    return new Index3(values[0], values[1], values[2]);
  }

  /** The index with this number within these extents, x fastest. */
  public Index3 index(long number) {
    return new Index3(number % x, number / x % y, number / x / y);
  }

  public long count() {
    return Math.multiplyExact(Math.multiplyExact(x, y), z);
  }

  public long get(int dimension) {
    return dimension == 0 ? x : dimension == 1 ? y : z;
  }

  @Override
  public String toString() {
    return "(" + x + ", " + y + ", " + z + ")";
  }
}
