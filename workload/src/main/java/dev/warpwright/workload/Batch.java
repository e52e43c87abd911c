package dev.warpwright.workload;

import java.util.Locale;

/**
 * How many products of one shape there are. The matrices of each operand and of the result are
 * strides apart, {@code A[count, M, K]}, one behind the other unless said otherwise; an operand
 * that all products share, that is with a stride of 0 from one to the next, is a matrix.
 *
 * <p>Grouped products have fewer B than there are products, {@code B[groups, N, K]}, and a table
 * {@code group[count]} of which one each takes, known only when the kernel runs. A mixture of
 * experts is that: rows sorted by expert and padded to a multiple of M, a product for every M rows.
 *
 * @param count of products, at least 1; 1 is the same as no batch
 * @param sharedA whether all products have the same A
 * @param sharedB whether all products have the same B
 * @param groups how many B there are to choose from; 0 where products do not choose
 * @param strides from one product's matrices to the next one's
 */
public record Batch(long count, boolean sharedA, boolean sharedB, long groups, Strides strides) {
  /** One product. */
  public static final Batch NONE = new Batch(1, true, true);

  /**
   * Elements from the beginning of a matrix to that of the next product's; 0 where they lie one
   * behind the other, or all products share one.
   *
   * @param a of A
   * @param b of B
   * @param c of C and of the matrices that the epilogue reads
   */
  public record Strides(long a, long b, long c) {
    /** One behind the other. */
    public static final Strides DENSE = new Strides(0, 0, 0);
  }

  /** Checks that there are products and matrices to choose from. */
  public Batch {
    if (count < 1) {
      throw new IllegalArgumentException("a batch of " + count + " GEMMs");
    }
    if (groups < 0 || groups > 0 && (count < 2 || sharedA || sharedB)) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "%d groups of %d GEMMs%s",
              groups,
              count,
              sharedA || sharedB ? " that share an operand" : ""));
    }
  }

  /**
   * Products of matrices that lie one behind the other.
   *
   * @param count products, at least 1
   * @param sharedA whether all have the same A
   * @param sharedB whether all have the same B
   * @param groups matrices B that each product takes one of; 0 if each has its own, or all share
   *     one
   */
  public Batch(long count, boolean sharedA, boolean sharedB, long groups) {
    this(count, sharedA, sharedB, groups, Strides.DENSE);
  }

  /**
   * Products none of which chooses its B.
   *
   * @param count products, at least 1
   * @param sharedA whether all have the same A
   * @param sharedB whether all have the same B
   */
  public Batch(long count, boolean sharedA, boolean sharedB) {
    this(count, sharedA, sharedB, 0);
  }

  /**
   * {@return the same with matrices so far apart}
   *
   * @param other distances of matrices
   */
  public Batch with(Strides other) {
    return new Batch(count, sharedA, sharedB, groups, other);
  }

  /**
   * {@return so many products, each of which takes one of {@code groups} matrices B}
   *
   * @param count products, at least 1
   * @param groups matrices B, at least 1
   */
  public static Batch grouped(long count, long groups) {
    return new Batch(count, false, false, groups);
  }

  /**
   * {@return so many products that share nothing}
   *
   * @param count products, at least 1
   */
  public static Batch of(long count) {
    return count == 1 ? NONE : new Batch(count, false, false);
  }

  /**
   * {@return {@code batch=8}, and which operands all products share, {@code batch=8 shared=B}, or
   * how many there are to choose from, {@code batch=8 groups=3}}
   */
  public String text() {
    String shared = (sharedA ? "A" : "") + (sharedB ? "B" : "");
    return "batch="
        + count
        + (shared.isEmpty() ? "" : " shared=" + shared)
        + (groups == 0 ? "" : " groups=" + groups);
  }

  /**
   * The stride from a matrix to the next, 0 where they follow each other.
   *
   * @throws IllegalArgumentException if their elements are not apart
   */
  static long apart(String name, long given, long count, long rows, long row, long pitch) {
    if (given == 0 || given == rows * pitch) {
      return 0;
    }
    boolean behind = given >= (rows - 1) * pitch + row;
    boolean between = given >= row && (count - 1) * given + row <= pitch;
    if (count == 1 || !behind && !between) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "%s=%d: %d matrices of %d rows of %d elements, %d apart, overlap",
              name,
              given,
              count,
              rows,
              row,
              pitch));
    }
    return given;
  }

  /** The stride of an operand that all products share. */
  static long none(String name, long given) {
    if (given != 0) {
      throw new IllegalArgumentException(name + "=" + given + ": all GEMMs share this operand");
    }
    return 0;
  }

  /** {@return whether there is more than one product} */
  public boolean isMany() {
    return count > 1;
  }

  /** {@return whether each product chooses its B} */
  public boolean isGrouped() {
    return groups > 0;
  }

  /** {@return how many B there are} */
  public long countOfB() {
    return isGrouped() ? groups : sharedB ? 1 : count;
  }
}
