package dev.warpwright.target.intrinsic;

/**
 * What {@code wgmma.m64nNkK.f32} computes: D (64 × n, f32) = A · Bᵀ, or that added to D, of A (64 ×
 * K) and B (n × K) with k contiguous, or of A stored as K × 64 or B as K × n. K elements are 32
 * bytes. Thread t of the warpgroup holds n/2 elements of D.
 *
 * @param columns n
 * @param input type of A and B
 * @param alongM whether A is stored with its rows contiguous, in panels of as many as a row of its
 *     buffer has
 * @param alongN whether B is stored with n contiguous, in such panels
 */
public record WarpgroupProduct(
    int columns, MatrixMeanings.Input input, boolean alongM, boolean alongN) {
  /** Rows of A and D. */
  public static final int ROWS = 64;

  /** Bytes of the elements along K. */
  public static final int DEPTH_BYTES = 32;

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

  /** The name, as {@code wgmma.m64n256k16.f32.bf16}. */
  public String text() {
    return "wgmma.m64n%dk%d.f32.%s%s%s"
        .formatted(columns, depth(), input.ptx(), alongM ? ".ta" : "", alongN ? ".tb" : "");
  }

  /** Elements of a row of A and B. */
  public int depth() {
    return DEPTH_BYTES / input.bytes();
  }

  /** Elements of D that a thread holds. */
  public int elements() {
    return columns / 2;
  }

  /**
   * Adds A · Bᵀ to D.
   *
   * @param d bits of the f32 elements: those of thread t begin at {@code t * elements()}
   * @param a bits of the elements of A, row by row
   * @param b bits of the elements of B, row by row
   */
  public void accumulate(int[] d, int[] a, int[] b) {
    TensorCore.Operand left = TensorCore.operand(input, a);
    TensorCore.Operand right = TensorCore.operand(input, b);
    int[] rows = new int[ROWS * columns];
    for (int thread = 0; thread < THREADS; thread++) {
      for (int i = 0; i < elements(); i++) {
        rows[row(thread, i) * columns + column(thread, i)] = d[thread * elements() + i];
      }
    }
    // Sums of 8-bit products keep 13 bits of the fraction only.
    TensorCore.accumulate(rows, left, right, ROWS, columns, depth(), input.bytes() == 1);
    for (int thread = 0; thread < THREADS; thread++) {
      for (int i = 0; i < elements(); i++) {
        d[thread * elements() + i] = rows[row(thread, i) * columns + column(thread, i)];
      }
    }
  }
}
