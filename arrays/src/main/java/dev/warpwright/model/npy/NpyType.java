package dev.warpwright.model.npy;

import org.jspecify.annotations.Nullable;

/** The element types of array files, by NumPy's kind letter and size. */
public enum NpyType {
  BOOL("b1"),
  I1("i1"),
  I2("i2"),
  I4("i4"),
  I8("i8"),
  U1("u1"),
  U2("u2"),
  U4("u4"),
  U8("u8"),
  F2("f2"),
  F4("f4"),
  F8("f8");

  private final String code;

  NpyType(String code) {
    this.code = code;
  }

  /** The kind letter and the size, for example {@code f4}. */
  public String code() {
    return code;
  }

  public int bytes() {
    return code.charAt(1) - '0';
  }

  public boolean isFloat() {
    return code.charAt(0) == 'f';
  }

  static @Nullable NpyType ofCode(String code) {
    for (NpyType type : values()) {
      if (type.code.equals(code)) {
        return type;
      }
    }
    return null;
  }
}
