package dev.warpwright.model.weights;

import dev.warpwright.ir.type.DType;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The element types that files of weights may hold, whether we compute with them or not. */
public enum ElementType {
  F64(8, DType.F64, "DoubleStorage"),
  F32(4, DType.F32, "FloatStorage"),
  F16(2, DType.F16, "HalfStorage"),
  BF16(2, DType.BF16, "BFloat16Storage"),
  F8_E4M3(1, DType.F8E4M3, null),
  F8_E5M2(1, DType.F8E5M2, null),
  I64(8, DType.I64, "LongStorage"),
  I32(4, DType.I32, "IntStorage"),
  I16(2, null, "ShortStorage"),
  I8(1, DType.I8, "CharStorage"),
  U64(8, DType.U64, null),
  U32(4, DType.U32, null),
  U16(2, null, null),
  U8(1, DType.U8, "ByteStorage"),
  BOOL(1, DType.BOOL, "BoolStorage");

  private static final Map<String, ElementType> BY_NAME = new HashMap<>();
  private static final Map<String, ElementType> BY_STORAGE = new HashMap<>();

  static {
    for (ElementType type : values()) {
      BY_NAME.put(type.name(), type);
      if (type.storage != null) {
        BY_STORAGE.put(type.storage, type);
      }
    }
  }

  private final int bytes;
  private final @Nullable DType dtype;
  private final @Nullable String storage;

  ElementType(int bytes, @Nullable DType dtype, @Nullable String storage) {
    this.bytes = bytes;
    this.dtype = dtype;
    this.storage = storage;
  }

  /** The type that safetensors calls this, or null. */
  static @Nullable ElementType named(String name) {
    return BY_NAME.get(name);
  }

  /**
   * The type whose elements are of this one.
   *
   * @throws IllegalArgumentException if there is none
   */
  static ElementType of(DType dtype) {
    for (ElementType type : values()) {
      if (type.dtype == dtype) {
        return type;
      }
    }
    throw new IllegalArgumentException("no tensor of a file holds " + dtype);
  }

  /** The type of a storage class of PyTorch, or null. */
  static @Nullable ElementType ofStorage(String name) {
    return BY_STORAGE.get(name);
  }

  /** The type that torch.export gives this number, or null. */
  public static @Nullable ElementType ofScalarType(long code) {
    return switch ((int) Math.clamp(code, -1, 99)) {
      case 1 -> U8;
      case 2 -> I8;
      case 3 -> I16;
      case 4 -> I32;
      case 5 -> I64;
      case 6 -> F16;
      case 7 -> F32;
      case 8 -> F64;
      case 12 -> BOOL;
      case 13 -> BF16;
      case 28 -> U16;
      case 29 -> F8_E4M3;
      case 30 -> F8_E5M2;
      default -> null;
    };
  }

  /** The size of an element. */
  public int bytes() {
    return bytes;
  }

  /** Our type, or null if we have none. */
  public @Nullable DType dtype() {
    return dtype;
  }
}
