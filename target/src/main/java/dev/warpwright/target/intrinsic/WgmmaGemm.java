package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.type.DType;
import java.util.Arrays;
import java.util.Locale;

/**
 * What {@code wgmma.m64nNkK} computes: D (64 × n) = A · Bᵀ, or that added to D, of A (64 × K) and B
 * (n × K) with k contiguous, or of A stored as K × 64 or B as K × n. K elements are 32 bytes.
 * Thread t of the warpgroup holds n/2 elements of D, and 16 bytes of A where that lies in
 * registers.
 *
 * <p>Of fewer rows, {@code m16}, {@code m32} and {@code m48}, hardware knows nothing: these are the
 * first rows of the same instruction. It reads whatever lies behind A's rows, and what becomes of
 * the rest of D, which other warps hold, is nobody's.
 *
 * @param rows of A and D: 64, or fewer, of which the others are anything
 * @param columns n
 * @param accumulators type of D: f32; f16 of f16 operands, two in a register; i32 of bytes, which
 *     wraps
 * @param input type of A and B
 * @param mnMajorA whether A is stored with its rows contiguous, in panels of as many as a row of
 *     its buffer has
 * @param mnMajorB whether B is stored with n contiguous, in such panels
 * @param fromRegisters whether A is a fragment in the threads' registers instead of a tile in
 *     shared memory
 */
public record WgmmaGemm(
    int rows,
    int columns,
    DType accumulators,
    MatrixMeanings.Input input,
    boolean mnMajorA,
    boolean mnMajorB,
    boolean fromRegisters) {
  /** Rows of A and D that an instruction has. */
  public static final int ROWS = 64;

  /** Bits of a NaN in f32, which stand for what is anything. */
  private static final int ANYTHING = 0x7FC0_0000;

  /** Bytes of the elements along K. */
  public static final int DEPTH_BYTES = 32;

  /** Threads that execute it together. */
  public static final int THREADS = 128;

  /** 32-bit registers of A that a thread holds, where A lies in registers. */
  public static final int A_REGISTERS = 4;

  /**
   * One of all rows.
   *
   * @param columns n
   * @param accumulators type of D
   * @param input type of A and B
   * @param mnMajorA whether A is stored with its rows contiguous
   * @param mnMajorB whether B is stored with n contiguous
   * @param fromRegisters whether A is a fragment in the threads' registers
   */
  public WgmmaGemm(
      int columns,
      DType accumulators,
      MatrixMeanings.Input input,
      boolean mnMajorA,
      boolean mnMajorB,
      boolean fromRegisters) {
    this(ROWS, columns, accumulators, input, mnMajorA, mnMajorB, fromRegisters);
  }

  /** Checks that what is read from registers has no order in memory. */
  public WgmmaGemm {
    if (mnMajorA && fromRegisters) {
      throw new IllegalArgumentException("a fragment of A has no order in memory");
    }
  }

  /**
   * {@return row of element i of a thread's part of D}
   *
   * @param thread of the warpgroup, 0 to 127
   * @param i element of the thread, from 0
   */
  public static int row(int thread, int i) {
    return thread / 32 * 16 + thread % 32 / 4 + 8 * (i >> 1 & 1);
  }

  /**
   * {@return column of element i of a thread's part of D}
   *
   * @param thread of the warpgroup, 0 to 127
   * @param i element of the thread, from 0
   */
  public static int column(int thread, int i) {
    return 8 * (i >> 2) + 2 * (thread % 4) + (i & 1);
  }

  /**
   * {@return row of element i of a thread's part of A in registers, the lowest of a register first}
   *
   * @param thread of the warpgroup, 0 to 127
   * @param i element of the thread, from 0
   */
  public int rowOfA(int thread, int i) {
    return thread / 32 * 16 + thread % 32 / 4 + 8 * (i / perRegister() & 1);
  }

  /**
   * {@return step of K of element i of a thread's part of A in registers}
   *
   * @param thread of the warpgroup, 0 to 127
   * @param i element of the thread, from 0
   */
  public int depthOfA(int thread, int i) {
    int per = perRegister();
    return per * (thread % 4) + i % per + 4 * per * (i / per >> 1);
  }

  /** Elements of A in a register. */
  private int perRegister() {
    return 4 / input.bytes();
  }

  /** {@return the name, as {@code wgmma.m64n256k16.f32.bf16}} */
  public String text() {
    return String.format(
        Locale.ROOT,
        "wgmma.m%dn%dk%d.%s.%s%s%s",
        rows,
        columns,
        depth(),
        accumulatorPtx(),
        input.ptx(),
        fromRegisters ? ".ra" : mnMajorA ? ".ta" : "",
        mnMajorB ? ".tb" : "");
  }

  /** The type of D in instructions. */
  String accumulatorPtx() {
    return accumulators == DType.I32 ? "s32" : accumulators.text();
  }

  /** {@return elements of a row of A and B} */
  public int depth() {
    return DEPTH_BYTES / input.bytes();
  }

  /** {@return elements of D that a thread holds} */
  public int elements() {
    return columns / 2;
  }

  /** {@return 32-bit registers of D that a thread holds} */
  public int registers() {
    return elements() * accumulators.bytes() / 4;
  }

  /**
   * The elements of A out of the threads' registers.
   *
   * @param registers those of thread t begin at {@code t * A_REGISTERS}
   * @return bits of the elements, row by row
   */
  public int[] matrixOfA(int[] registers) {
    int bits = 8 * input.bytes();
    int per = perRegister();
    int[] a = new int[ROWS * depth()];
    for (int thread = 0; thread < THREADS; thread++) {
      for (int i = 0; i < A_REGISTERS * per; i++) {
        int register = registers[thread * A_REGISTERS + i / per];
        // As loads of bytes and halves do, this extends the sign.
        int element = register << 32 - bits - i % per * bits >> 32 - bits;
        a[rowOfA(thread, i) * depth() + depthOfA(thread, i)] = element;
      }
    }
    return a;
  }

  /**
   * Adds A · Bᵀ to D.
   *
   * @param d bits of the elements: those of thread t begin at {@code t * elements()}
   * @param a bits of the elements of A, row by row
   * @param b bits of the elements of B, row by row
   */
  public void accumulate(int[] d, int[] a, int[] b) {
    int[] sums = new int[ROWS * columns];
    for (int thread = 0; thread < THREADS; thread++) {
      for (int i = 0; i < elements(); i++) {
        int bits = d[thread * elements() + i];
        sums[row(thread, i) * columns + column(thread, i)] =
            accumulators == DType.F16 ? TensorCore.f32OfF16(bits) : bits;
      }
    }
    if (accumulators == DType.I32) {
      accumulateBytes(sums, a, b);
    } else {
      TensorCore.accumulate(
          sums,
          TensorCore.operand(input, a),
          TensorCore.operand(input, b),
          rows,
          columns,
          depth(),
          rounding());
    }
    Arrays.fill(sums, rows * columns, sums.length, ANYTHING);
    for (int thread = 0; thread < THREADS; thread++) {
      for (int i = 0; i < elements(); i++) {
        int bits = sums[row(thread, i) * columns + column(thread, i)];
        d[thread * elements() + i] = accumulators == DType.F16 ? TensorCore.f16OfF32(bits) : bits;
      }
    }
  }

  private TensorCore.Rounding rounding() {
    return accumulators == DType.F16
        ? TensorCore.Rounding.F16
        // Sums of 8-bit products keep 13 bits of the fraction only.
        : input.bytes() == 1 ? TensorCore.Rounding.COARSE : TensorCore.Rounding.F32;
  }

  /** Exact, modulo 2^32. */
  private void accumulateBytes(int[] sums, int[] a, int[] b) {
    int depth = depth();
    for (int row = 0; row < ROWS; row++) {
      for (int column = 0; column < columns; column++) {
        int sum = sums[row * columns + column];
        for (int k = 0; k < depth; k++) {
          sum += (byte) a[row * depth + k] * (byte) b[column * depth + k];
        }
        sums[row * columns + column] = sum;
      }
    }
  }
}
