package dev.warpwright.families;

/**
 * How many products of one shape there are. The matrices of each operand and of the result lie one
 * behind the other, {@code A[count, M, K]}; an operand that all products share, that is with a
 * stride of 0 from one to the next, is a matrix.
 *
 * @param count of products, at least 1; 1 is the same as no batch
 * @param sharedA whether all products have the same A
 * @param sharedB whether all products have the same B
 */
public record Batch(long count, boolean sharedA, boolean sharedB) {
  /** One product. */
  public static final Batch NONE = new Batch(1, true, true);

  public Batch {
    if (count < 1) {
      throw new IllegalArgumentException("a batch of " + count + " products");
    }
  }

  /** So many products that share nothing. */
  public static Batch of(long count) {
    return count == 1 ? NONE : new Batch(count, false, false);
  }

  /** {@code batch=8}, and which operands all products share: {@code batch=8 shared=B}. */
  public String text() {
    String shared = (sharedA ? "A" : "") + (sharedB ? "B" : "");
    return "batch=" + count + (shared.isEmpty() ? "" : " shared=" + shared);
  }

  /** Whether there is more than one product. */
  public boolean isMany() {
    return count > 1;
  }
}
