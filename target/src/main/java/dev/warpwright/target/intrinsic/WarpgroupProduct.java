package dev.warpwright.target.intrinsic;

/**
 * What {@code wgmma.m64nNk16.f32} computes: D (64 × n, f32) = A · Bᵀ, or that added to D, of A (64
 * × 16) and B (n × 16) with k contiguous, or of B stored as 16 × n. Thread t of the warpgroup holds
 * n/2 elements of D.
 *
 * @param columns n
 * @param input type of A and B
 * @param alongN whether B is stored with n contiguous, in panels of as many columns as a row of its
 *     buffer has
 */
public record WarpgroupProduct(int columns, MatrixMeanings.Input input, boolean alongN) {
  /** Rows of A and D. */
  public static final int ROWS = 64;

  /** Elements of a row of A and B. */
  public static final int DEPTH = 16;

  /** Threads that execute it together. */
  public static final int THREADS = 128;

  /** Row of element i of a thread's part of D. */
  public static int row(int thread, int i) {
    return thread / 32 * 16 + thread % 32 / 4 + 8 * (i >> 1 & 1);
  }

  /** Column of element i of a thread's part of D. */
  public static int column(int thread, int i) {
    return 8 * (i >> 2) + 2 * (thread % 4) + (i & 1);
  }

  /** Elements of D that a thread holds. */
  public int elements() {
    return columns / 2;
  }

  /**
   * Adds A · Bᵀ to D.
   *
   * @param d bits of the f32 elements: those of thread t begin at {@code t * elements()}
   * @param a bits of A, row by row
   * @param b bits of B, row by row
   */
  public void accumulate(int[] d, short[] a, short[] b) {
    TensorCore.Operand left = operand(a);
    TensorCore.Operand right = operand(b);
    int elements = elements();
    for (int thread = 0; thread < THREADS; thread++) {
      for (int i = 0; i < elements; i++) {
        int at = thread * elements + i;
        d[at] =
            TensorCore.sum(
                d[at], left, row(thread, i) * DEPTH, right, column(thread, i) * DEPTH, DEPTH);
      }
    }
  }

  private TensorCore.Operand operand(short[] bits) {
    return switch (input) {
      case F16 -> TensorCore.f16(bits);
      case BF16 -> TensorCore.bf16(bits);
      case TF32 -> throw new IllegalStateException("tf32 elements have 32 bits");
    };
  }
}
