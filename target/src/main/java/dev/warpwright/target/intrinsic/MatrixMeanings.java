package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.type.DType;

/**
 * What the matrix instructions of a warp do, element by element. Lane {@code l} has {@code g = l /
 * 4} and {@code q = l % 4}; the maps are those of the PTX ISA's sections on matrix fragments.
 */
public final class MatrixMeanings {
  private static final int WARP = 32;

  /** Element types that a matrix instruction multiplies. */
  public enum Input {
    /** f16. */
    F16(DType.F16, "f16"),
    /** bf16. */
    BF16(DType.BF16, "bf16"),
    /** Read from f32, of which the low 13 bits are ignored. */
    TF32(DType.F32, "tf32"),
    /** 8-bit floats of 3 bits of mantissa. */
    E4M3(DType.F8E4M3, "e4m3"),
    /** 8-bit floats of 2 bits of mantissa. */
    E5M2(DType.F8E5M2, "e5m2"),
    /** Signed bytes. */
    S8(DType.I8, "s8");

    private final DType dtype;
    private final String ptx;

    Input(DType dtype, String ptx) {
      this.dtype = dtype;
      this.ptx = ptx;
    }

    /** {@return type of the buffers that hold such elements} */
    public DType dtype() {
      return dtype;
    }

    /** {@return the name in instructions} */
    public String ptx() {
      return ptx;
    }

    /** {@return the size of an element} */
    public int bytes() {
      return dtype.bytes();
    }
  }

  private MatrixMeanings() {}

  /**
   * {@code D = A·B + D} with A 16×k row-major, B k×8, D 16×8 of f32; operands d, a, b.
   *
   * @param k 8 or 16
   */
  static Meaning mma(int k, Input input) {
    return lanes -> {
      requireWholeWarp(lanes, "mma");
      TensorCore.Operand a = gather(lanes, 1, 16, k, input);
      TensorCore.Operand b = gather(lanes, 2, 8, k, input);
      int[] d = new int[16 * 8];
      int[] own = new int[4];
      for (int lane = 0; lane < WARP; lane++) {
        lanes.load(0, lane, own);
        for (int i = 0; i < 4; i++) {
          d[element(lane, i)] = own[i];
        }
      }
      TensorCore.accumulate(d, a, b, 16, 8, k, TensorCore.Rounding.F32);
      for (int lane = 0; lane < WARP; lane++) {
        for (int i = 0; i < 4; i++) {
          own[i] = d[element(lane, i)];
        }
        lanes.store(0, lane, own);
      }
    };
  }

  /** The same with D of f16, two elements in a register: as {@link #mma} of f16 otherwise. */
  static Meaning halfMma(int k) {
    return lanes -> {
      requireWholeWarp(lanes, "mma");
      TensorCore.Operand a = gather(lanes, 1, 16, k, Input.F16);
      TensorCore.Operand b = gather(lanes, 2, 8, k, Input.F16);
      int[] d = new int[16 * 8];
      int[] own = new int[2];
      for (int lane = 0; lane < WARP; lane++) {
        lanes.load(0, lane, own);
        for (int i = 0; i < 4; i++) {
          d[element(lane, i)] = TensorCore.f32OfF16(own[i / 2] >>> 16 * (i % 2));
        }
      }
      TensorCore.accumulate(d, a, b, 16, 8, k, TensorCore.Rounding.F16);
      for (int lane = 0; lane < WARP; lane++) {
        for (int i = 0; i < 2; i++) {
          own[i] =
              TensorCore.f16OfF32(d[element(lane, 2 * i)])
                  | TensorCore.f16OfF32(d[element(lane, 2 * i + 1)]) << 16;
        }
        lanes.store(0, lane, own);
      }
    };
  }

  /** Where the lane's element i of D is, row by row. */
  private static int element(int lane, int i) {
    return (lane / 4 + 8 * (i >> 1)) * 8 + 2 * (lane % 4) + (i & 1);
  }

  /** {@code D = A·B + D} of signed bytes into i32, which wraps; as {@link #mma} otherwise. */
  static Meaning integerMma(int k) {
    return lanes -> {
      requireWholeWarp(lanes, "mma");
      int[] a = elements(lanes, 1, 16, k, 1);
      int[] b = elements(lanes, 2, 8, k, 1);
      for (int lane = 0; lane < WARP; lane++) {
        for (int i = 0; i < 4; i++) {
          int row = lane / 4 + 8 * (i >> 1);
          int col = 2 * (lane % 4) + (i & 1);
          int sum = lanes.load32(0, lane, 4 * i);
          for (int step = 0; step < k; step++) {
            sum += (byte) a[row * k + step] * (byte) b[col * k + step];
          }
          lanes.store32(0, lane, 4 * i, sum);
        }
      }
    };
  }

  private static TensorCore.Operand gather(Lanes lanes, int operand, int rows, int k, Input input) {
    return TensorCore.operand(input, elements(lanes, operand, rows, k, input.bytes()));
  }

  /**
   * An input matrix with k contiguous: A by rows, B by columns. Both have the same map, B with half
   * the rows: register r of a lane holds row {@code g + 8·(r & 1)} (of B always {@code g}) and the
   * k that follow from the rest of r. Bits above an element's are those of its neighbours.
   */
  private static int[] elements(Lanes lanes, int operand, int rows, int k, int bytes) {
    int rowBlocks = rows / 8;
    int perRegister = 4 / bytes;
    int registers = rowBlocks * k / 4 / perRegister;
    int[] elements = new int[rows * k];
    int[] words = new int[registers];
    for (int lane = 0; lane < WARP; lane++) {
      lanes.load(operand, lane, words);
      for (int r = 0; r < registers; r++) {
        int bits = words[r];
        int row = lane / 4 + 8 * (r % rowBlocks);
        int start = row * k + perRegister * (lane % 4) + 4 * perRegister * (r / rowBlocks);
        for (int i = 0; i < perRegister; i++) {
          elements[start + i] = bits >>> 32 / perRegister * i;
        }
      }
    }
    return elements;
  }

  /**
   * Loads 8×8 matrices of 16-bit elements; lane {@code 8j + r} gives the address of row r of matrix
   * j. Operands dst, row.
   *
   * @param matrices 1, 2 or 4
   * @param transposed whether each matrix is transposed on the way
   */
  static Meaning ldmatrix(int matrices, boolean transposed) {
    return lanes -> {
      requireWholeWarp(lanes, "ldmatrix");
      short[][] rows = new short[8 * matrices][8];
      int[] words = new int[4];
      for (int lane = 0; lane < 8 * matrices; lane++) {
        lanes.load(1, lane, words);
        for (int i = 0; i < 4; i++) {
          rows[lane][2 * i] = (short) words[i];
          rows[lane][2 * i + 1] = (short) (words[i] >>> 16);
        }
      }
      int[] own = new int[matrices];
      for (int lane = 0; lane < WARP; lane++) {
        int g = lane / 4;
        int q = lane % 4;
        for (int j = 0; j < matrices; j++) {
          int low = transposed ? rows[8 * j + 2 * q][g] : rows[8 * j + g][2 * q];
          int high = transposed ? rows[8 * j + 2 * q + 1][g] : rows[8 * j + g][2 * q + 1];
          own[j] = (low & 0xFFFF) | high << 16;
        }
        lanes.store(0, lane, own);
      }
    };
  }

  /** The inverse of {@link #ldmatrix}: operands row (written), src. */
  static Meaning stmatrix(int matrices, boolean transposed) {
    return lanes -> {
      requireWholeWarp(lanes, "stmatrix");
      short[][] rows = new short[8 * matrices][8];
      for (int lane = 0; lane < WARP; lane++) {
        int g = lane / 4;
        int q = lane % 4;
        for (int j = 0; j < matrices; j++) {
          int bits = lanes.load32(1, lane, 4 * j);
          int r = 8 * j;
          if (transposed) {
            rows[r + 2 * q][g] = (short) bits;
            rows[r + 2 * q + 1][g] = (short) (bits >>> 16);
          } else {
            rows[r + g][2 * q] = (short) bits;
            rows[r + g][2 * q + 1] = (short) (bits >>> 16);
          }
        }
      }
      for (int lane = 0; lane < 8 * matrices; lane++) {
        for (int i = 0; i < 4; i++) {
          int bits = (rows[lane][2 * i] & 0xFFFF) | rows[lane][2 * i + 1] << 16;
          lanes.store32(0, lane, 4 * i, bits);
        }
      }
    };
  }

  /** The value of another lane: operands value, and what {@code source} makes a lane of. */
  static Meaning shuffle(LaneChoice source) {
    return lanes -> {
      requireWholeWarp(lanes, "shfl");
      for (int lane = 0; lane < WARP; lane++) {
        int from = source.from(lane, (int) lanes.value(1, lane)) & (WARP - 1);
        lanes.result(lane, lanes.value(0, from));
      }
    };
  }

  /** The lane whose value a lane takes. */
  @FunctionalInterface
  interface LaneChoice {
    int from(int lane, int operand);
  }

  private static void requireWholeWarp(Lanes lanes, String what) {
    for (int lane = 0; lane < WARP; lane++) {
      if (lanes.count() != WARP || !lanes.active(lane)) {
        throw new IllegalStateException(
            what + " needs all 32 lanes of a warp, lane " + lane + " does not take part");
      }
    }
  }
}
