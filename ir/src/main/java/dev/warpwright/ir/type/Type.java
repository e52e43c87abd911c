package dev.warpwright.ir.type;

/**
 * Type of an expression: an element type and a number of lanes, 1 for a scalar.
 *
 * @param dtype element type
 * @param lanes at least 1
 */
public record Type(DType dtype, int lanes) {
  public static final Type BOOL = new Type(DType.BOOL, 1);
  public static final Type I32 = new Type(DType.I32, 1);
  public static final Type U32 = new Type(DType.U32, 1);
  public static final Type I64 = new Type(DType.I64, 1);
  public static final Type F16 = new Type(DType.F16, 1);
  public static final Type BF16 = new Type(DType.BF16, 1);
  public static final Type F32 = new Type(DType.F32, 1);
  public static final Type F64 = new Type(DType.F64, 1);
  public static final Type HANDLE = new Type(DType.HANDLE, 1);

  /** Checks that there is a lane. */
  public Type {
    if (lanes < 1) {
      throw new IllegalArgumentException("lanes must be at least 1, not " + lanes);
    }
  }

  /**
   * {@return the type of a scalar}
   *
   * @param dtype its element type
   */
  public static Type of(DType dtype) {
    return new Type(dtype, 1);
  }

  /** {@return whether it has one lane} */
  public boolean isScalar() {
    return lanes == 1;
  }

  /**
   * {@return the same element type with another number of lanes}
   *
   * @param newLanes at least 1
   */
  public Type withLanes(int newLanes) {
    return newLanes == lanes ? this : new Type(dtype, newLanes);
  }

  /**
   * {@return the same number of lanes with another element type}
   *
   * @param newDType of each lane
   */
  public Type withDType(DType newDType) {
    return newDType == dtype ? this : new Type(newDType, lanes);
  }

  @Override
  public String toString() {
    return lanes == 1 ? dtype.text() : dtype.text() + "x" + lanes;
  }
}
