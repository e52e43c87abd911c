package dev.warpwright.model.weights;

import dev.warpwright.ir.DType;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The element types that files of weights may hold, whether we compute with them or not. */
enum ElementType {
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

  /** The type of a storage class of PyTorch, or null. */
  static @Nullable ElementType ofStorage(String name) {
    return BY_STORAGE.get(name);
  }

  int bytes() {
    return bytes;
  }

  /** Our type, or null if we have none. */
  @Nullable DType dtype() {
    return dtype;
  }
}
