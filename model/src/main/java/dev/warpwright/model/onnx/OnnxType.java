package dev.warpwright.model.onnx;

import dev.warpwright.ir.type.DType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The element type codes of ONNX. */
final class OnnxType {
  private static final List<String> NAMES =
      List.of(
          "undefined",
          "float32",
          "uint8",
          "int8",
          "uint16",
          "int16",
          "int32",
          "int64",
          "string",
          "bool",
          "float16",
          "float64",
          "uint32",
          "uint64",
          "complex64",
          "complex128",
          "bfloat16",
          "float8e4m3fn",
          "float8e4m3fnuz",
          "float8e5m2",
          "float8e5m2fnuz",
          "uint4",
          "int4",
          "float4e2m1",
          "float8e8m0");

  private OnnxType() {}

  /** The type with a code, or null if tensors of it are not supported. */
  static @Nullable DType dtype(int code) {
    return switch (code) {
      case 1 -> DType.F32;
      case 2 -> DType.U8;
      case 3 -> DType.I8;
      case 6 -> DType.I32;
      case 7 -> DType.I64;
      case 9 -> DType.BOOL;
      case 10 -> DType.F16;
      case 11 -> DType.F64;
      case 12 -> DType.U32;
      case 13 -> DType.U64;
      case 16 -> DType.BF16;
      default -> null;
    };
  }

  /** The name of a code for messages. */
  static String name(int code) {
    return code >= 0 && code < NAMES.size() ? NAMES.get(code) : "number " + code;
  }
}
