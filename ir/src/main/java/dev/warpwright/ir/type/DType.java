package dev.warpwright.ir.type;

/**
 * Element type of a buffer or of one lane of an expression.
 *
 * <p>{@code tf32} is no element type: it is a way in which a matrix instruction reads an {@link
 * #F32} operand, so it appears in the names of intrinsics and never in a buffer.
 */
public enum DType {
  /** A truth value; a byte in memory, 0 or 1. */
  BOOL("bool", Kind.BOOL, 8),
  /** Signed integers of 8 bits. */
  I8("i8", Kind.SIGNED, 8),
  /** Unsigned integers of 8 bits. */
  U8("u8", Kind.UNSIGNED, 8),
  /** Signed integers of 32 bits, the type of loops and indices. */
  I32("i32", Kind.SIGNED, 32),
  /** Unsigned integers of 32 bits. */
  U32("u32", Kind.UNSIGNED, 32),
  /** Signed integers of 64 bits. */
  I64("i64", Kind.SIGNED, 64),
  /** Unsigned integers of 64 bits. */
  U64("u64", Kind.UNSIGNED, 64),
  /** 4 bits of exponent, 3 of mantissa; finite up to 448, NaN but no infinities. */
  F8E4M3("f8e4m3", Kind.FLOAT, 8),
  /** 5 bits of exponent, 2 of mantissa; finite up to 57344, infinities and NaN. */
  F8E5M2("f8e5m2", Kind.FLOAT, 8),
  /** IEEE 754 binary16: 5 bits of exponent, 10 of mantissa; finite up to 65504. */
  F16("f16", Kind.FLOAT, 16),
  /** bfloat16: the upper half of an {@link #F32}, so 8 bits of exponent, 7 of mantissa. */
  BF16("bf16", Kind.FLOAT, 16),
  /** IEEE 754 binary32. */
  F32("f32", Kind.FLOAT, 32),
  /** IEEE 754 binary64. */
  F64("f64", Kind.FLOAT, 64),
  /** An mbarrier object: eight opaque bytes of shared memory. */
  MBARRIER("mbarrier", Kind.OPAQUE, 64),
  /** An address, made by {@code Expr.AddressOf}; only intrinsics take one. */
  HANDLE("handle", Kind.OPAQUE, 64);

  private enum Kind {
    BOOL,
    SIGNED,
    UNSIGNED,
    FLOAT,
    OPAQUE
  }

  private final String text;
  private final Kind kind;
  private final int bits;

  DType(String text, Kind kind, int bits) {
    this.text = text;
    this.kind = kind;
    this.bits = bits;
  }

  /** {@return the name used by the text form, for example {@code bf16}} */
  public String text() {
    return text;
  }

  /** {@return the size of an element in bits, a multiple of 8} */
  public int bits() {
    return bits;
  }

  /** {@return the size of an element in memory} */
  public int bytes() {
    return bits / 8;
  }

  /** {@return whether this is a floating-point number of any width} */
  public boolean isFloat() {
    return kind == Kind.FLOAT;
  }

  /** {@return whether this is a signed or unsigned integer; {@link #BOOL} is not} */
  public boolean isInt() {
    return kind == Kind.SIGNED || kind == Kind.UNSIGNED;
  }

  /** {@return whether this is an unsigned integer; {@link #BOOL} is not} */
  public boolean isUnsigned() {
    return kind == Kind.UNSIGNED;
  }

  /**
   * {@return the type with this text}
   *
   * @param text as {@link #text()} gives it
   * @throws IllegalArgumentException if there is none
   */
  public static DType parse(String text) {
    for (DType type : values()) {
      if (type.text.equals(text)) {
        return type;
      }
    }
    throw new IllegalArgumentException("unknown element type '" + text + "'");
  }

  @Override
  public String toString() {
    return text;
  }
}
