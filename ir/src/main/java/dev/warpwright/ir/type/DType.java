package dev.warpwright.ir.type;

/**
 * Element type of a buffer or of one lane of an expression.
 *
 * <p>{@code tf32} is no element type: it is a way in which a matrix instruction reads an {@link
 * #F32} operand, so it appears in the names of intrinsics and never in a buffer.
 */
public enum DType {
  BOOL("bool", Kind.BOOL, 8),
  I8("i8", Kind.SIGNED, 8),
  U8("u8", Kind.UNSIGNED, 8),
  I32("i32", Kind.SIGNED, 32),
  U32("u32", Kind.UNSIGNED, 32),
  I64("i64", Kind.SIGNED, 64),
  U64("u64", Kind.UNSIGNED, 64),
  F8E4M3("f8e4m3", Kind.FLOAT, 8),
  F8E5M2("f8e5m2", Kind.FLOAT, 8),
  F16("f16", Kind.FLOAT, 16),
  BF16("bf16", Kind.FLOAT, 16),
  F32("f32", Kind.FLOAT, 32),
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

  /** The name used by the text form, for example {@code bf16}. */
  public String text() {
    return text;
  }

  public int bits() {
    return bits;
  }

  public int bytes() {
    return bits / 8;
  }

  public boolean isFloat() {
    return kind == Kind.FLOAT;
  }

  /** Whether this is a signed or unsigned integer; {@link #BOOL} is not. */
  public boolean isInt() {
    return kind == Kind.SIGNED || kind == Kind.UNSIGNED;
  }

  public boolean isUnsigned() {
    return kind == Kind.UNSIGNED;
  }

  /**
   * The type with this text.
   *
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
