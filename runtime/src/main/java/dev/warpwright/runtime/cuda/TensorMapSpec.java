package dev.warpwright.runtime.cuda;

import dev.warpwright.ir.type.DType;
import java.util.ArrayList;
import java.util.List;

/**
 * A tensor in global memory and the boxes that TMA copies move. Dimension 0 is the innermost, whose
 * elements are contiguous. There is no interleaving.
 *
 * @param type of the elements
 * @param dims elements in each of one to five dimensions, 1 to 2³²
 * @param strides bytes from one element to the next in dimensions 1 and up, multiples of 16 below
 *     2⁴⁰
 * @param box elements of a box in each dimension, 1 to 256; the innermost row a multiple of 16
 *     bytes, and no longer than the swizzle's span
 * @param elementStrides which elements a box takes in each dimension, 1 to 8: 1 takes every one
 * @param swizzle how a box is permuted in shared memory
 * @param l2Promotion how much L2 fetches at once
 * @param outOfBounds what a copy delivers for elements outside the tensor
 */
public record TensorMapSpec(
    Type type,
    List<Long> dims,
    List<Long> strides,
    List<Integer> box,
    List<Integer> elementStrides,
    Swizzle swizzle,
    L2Promotion l2Promotion,
    OutOfBounds outOfBounds) {
  private static final int ALIGNMENT = 16;

  /** Bytes of a line of L2. */
  private static final int LINE = 128;

  /** An element type, with the number that the driver gives it. */
  public enum Type {
    /** Bytes: integers or 8-bit floats. */
    U8(0, 1),
    /** Unsigned integers of 16 bits. */
    U16(1, 2),
    /** Unsigned integers of 32 bits. */
    U32(2, 4),
    /** Signed integers of 32 bits. */
    I32(3, 4),
    /** Unsigned integers of 64 bits. */
    U64(4, 8),
    /** Signed integers of 64 bits. */
    I64(5, 8),
    /** f16. */
    F16(6, 2),
    /** f32. */
    F32(7, 4),
    /** f64. */
    F64(8, 8),
    /** bf16. */
    BF16(9, 2),
    /** f32, subnormal numbers made zero on the way. */
    F32_FTZ(10, 4),
    /** f32, rounded to tf32 on the way. */
    TF32(11, 4),
    /** f32, rounded to tf32 on the way, subnormal numbers made zero. */
    TF32_FTZ(12, 4);

    private final int code;
    private final int bytes;

    Type(int code, int bytes) {
      this.code = code;
      this.bytes = bytes;
    }

    int code() {
      return code;
    }

    /** {@return the size of an element} */
    public int bytes() {
      return bytes;
    }

    boolean isFloat() {
      return code >= F16.code;
    }

    /**
     * {@return the type for elements of an IR buffer; 8-bit floats travel as bytes}
     *
     * @param type of a buffer's elements
     * @throws IllegalArgumentException if there is none
     */
    public static Type of(DType type) {
      return switch (type) {
        case BOOL, I8, U8, F8E4M3, F8E5M2 -> U8;
        case I32 -> I32;
        case U32 -> U32;
        case I64 -> I64;
        case U64 -> U64;
        case F16 -> F16;
        case BF16 -> BF16;
        case F32 -> F32;
        case F64 -> F64;
        case MBARRIER, HANDLE ->
            throw new IllegalArgumentException("no tensor map holds elements of type " + type);
      };
    }
  }

  /** How 16-byte chunks are permuted in shared memory. */
  public enum Swizzle {
    /** Boxes lie row after row. */
    NONE(0, Integer.MAX_VALUE),
    /** Chunks of 16 bytes are permuted within 32 bytes. */
    B32(1, 32),
    /** Chunks of 16 bytes are permuted within 64 bytes. */
    B64(2, 64),
    /** Chunks of 16 bytes are permuted within 128 bytes. */
    B128(3, 128);

    private final int code;
    private final int span;

    Swizzle(int code, int span) {
      this.code = code;
      this.span = span;
    }

    int code() {
      return code;
    }

    /** {@return the longest row of a box in bytes} */
    public int span() {
      return span;
    }
  }

  /** How much L2 fetches at once. */
  public enum L2Promotion {
    /** No more than is asked for. */
    NONE(0),
    /** 64 bytes. */
    B64(1),
    /** 128 bytes, a line. */
    B128(2),
    /** 256 bytes, two lines. */
    B256(3);

    private final int code;

    L2Promotion(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }
  }

  /** What elements outside the tensor read as. */
  public enum OutOfBounds {
    /** Zeros, of every type. */
    ZERO(0),
    /** NaN with a payload of CUDA's, of floating-point types only. */
    NAN(1);

    private final int code;

    OutOfBounds(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }
  }

  /** Copies the lists and checks what the driver requires. */
  public TensorMapSpec {
    dims = List.copyOf(dims);
    strides = List.copyOf(strides);
    box = List.copyOf(box);
    elementStrides = List.copyOf(elementStrides);
    int rank = dims.size();
    require(rank >= 1 && rank <= 5, "rank " + rank + " is not 1 to 5");
    require(strides.size() == rank - 1, "rank " + rank + " has " + strides.size() + " strides");
    require(box.size() == rank, "rank " + rank + " has a box of " + box.size() + " dimensions");
    require(
        elementStrides.size() == rank,
        "rank " + rank + " has " + elementStrides.size() + " element strides");
    for (long dim : dims) {
      require(dim >= 1 && dim <= 1L << 32, "dimension " + dim + " is not 1 to 2^32");
    }
    for (long stride : strides) {
      require(
          stride > 0 && stride < 1L << 40 && stride % ALIGNMENT == 0,
          "stride of " + stride + " bytes is no multiple of 16 below 2^40");
    }
    for (int extent : box) {
      require(extent >= 1 && extent <= 256, "box extent " + extent + " is not 1 to 256");
    }
    for (int step : elementStrides) {
      require(step >= 1 && step <= 8, "element stride " + step + " is not 1 to 8");
    }
    int row = box.getFirst() * type.bytes();
    require(row % ALIGNMENT == 0, "box row of " + row + " bytes is no multiple of 16");
    require(row <= swizzle.span(), "box row of " + row + " bytes exceeds swizzle " + swizzle);
    require(
        outOfBounds == OutOfBounds.ZERO || type.isFloat(),
        "elements of type " + type + " cannot be filled with NaN");
  }

  /**
   * {@return a row-major matrix, the usual case: zeros outside, promotion to lines of 128 bytes
   * where rows begin with a line} Elsewhere a box's row lies in two lines, and promotion would read
   * both.
   *
   * @param type of the elements
   * @param rows of the matrix
   * @param columns of the matrix, contiguous in memory
   * @param leadingBytes from one row to the next
   * @param boxRows rows of a box
   * @param boxColumns columns of a box
   * @param swizzle of a box in shared memory
   */
  public static TensorMapSpec matrix(
      Type type,
      long rows,
      long columns,
      long leadingBytes,
      int boxRows,
      int boxColumns,
      Swizzle swizzle) {
    return new TensorMapSpec(
        type,
        List.of(columns, rows),
        List.of(leadingBytes),
        List.of(boxColumns, boxRows),
        List.of(1, 1),
        swizzle,
        leadingBytes % LINE == 0 ? L2Promotion.B128 : L2Promotion.NONE,
        OutOfBounds.ZERO);
  }

  /**
   * {@return so many of these tensors, so many bytes apart; a box is still of one}
   *
   * @param count tensors, which become a further dimension
   * @param distance bytes from the start of one to that of the next
   */
  public TensorMapSpec times(long count, long distance) {
    List<Long> newDims = new ArrayList<>(dims);
    newDims.add(count);
    List<Long> newStrides = new ArrayList<>(strides);
    newStrides.add(distance);
    List<Integer> newBox = new ArrayList<>(box);
    newBox.add(1);
    List<Integer> newSteps = new ArrayList<>(elementStrides);
    newSteps.add(1);
    return new TensorMapSpec(
        type, newDims, newStrides, newBox, newSteps, swizzle, l2Promotion, outOfBounds);
  }

  /** Bytes from the first element to behind the last one. */
  long bytes() {
    long last = Math.multiplyExact(dims.getFirst(), (long) type.bytes());
    for (int i = 1; i < dims.size(); i++) {
      last = Math.addExact(last, Math.multiplyExact(dims.get(i) - 1, strides.get(i - 1)));
    }
    return last;
  }

  void checkAddress(long address) {
    require(address % ALIGNMENT == 0, "the first element is not at a multiple of 16 bytes");
  }

  private static void require(boolean condition, String message) {
    if (!condition) {
      throw new IllegalArgumentException("tensor map: " + message);
    }
  }
}
