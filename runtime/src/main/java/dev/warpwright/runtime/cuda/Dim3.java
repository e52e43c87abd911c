package dev.warpwright.runtime.cuda;

/**
 * A number of threads or blocks in each of three dimensions, all positive; x varies fastest.
 *
 * @param x in the first dimension
 * @param y in the second
 * @param z in the third
 */
public record Dim3(int x, int y, int z) {
  public static final Dim3 ONE = new Dim3(1, 1, 1);

  /** Checks that all are positive. */
  public Dim3 {
    if (x <= 0 || y <= 0 || z <= 0) {
      throw new IllegalArgumentException(
          "dimensions " + x + "x" + y + "x" + z + " must all be positive");
    }
  }

  /**
   * So many in one dimension.
   *
   * @param x at least 1
   */
  public Dim3(int x) {
    this(x, 1, 1);
  }

  /**
   * So many in two dimensions.
   *
   * @param x at least 1
   * @param y at least 1
   */
  public Dim3(int x, int y) {
    this(x, y, 1);
  }

  /** {@return how many there are in all} */
  public long count() {
    return (long) x * y * z;
  }

  boolean isMultipleOf(Dim3 other) {
    return x % other.x == 0 && y % other.y == 0 && z % other.z == 0;
  }

  @Override
  public String toString() {
    return x + "x" + y + "x" + z;
  }
}
