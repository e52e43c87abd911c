package dev.warpwright.cuda;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import java.util.Locale;

/** Element types and constants in CUDA C++. */
final class CudaTypes {
  private CudaTypes() {}

  /** The C++ type of an element. */
  static String name(DType dtype) {
    return switch (dtype) {
      case BOOL -> "bool";
      case I8 -> "signed char";
      case U8 -> "unsigned char";
      case I32 -> "int";
      case U32 -> "unsigned";
      case I64 -> "long long";
      case U64 -> "unsigned long long";
      case F8E4M3 -> "f8e4m3";
      case F8E5M2 -> "f8e5m2";
      case F16 -> "f16";
      case BF16 -> "bf16";
      case F32 -> "float";
      case F64 -> "double";
      case MBARRIER -> "unsigned long long";
      case HANDLE -> throw new IllegalArgumentException("no value of type " + dtype);
    };
  }

  /** Whether C++ sees a struct around bits. */
  static boolean isStruct(DType dtype) {
    return switch (dtype) {
      case F8E4M3, F8E5M2, F16, BF16 -> true;
      case BOOL, I8, U8, I32, U32, I64, U64, F32, F64, MBARRIER, HANDLE -> false;
    };
  }

  /** An integer constant. */
  static Text constant(Expr.IntImm imm) {
    long value = imm.value();
    return switch (imm.type().dtype()) {
      case BOOL -> Text.atom(value != 0 ? "true" : "false");
      case I8, U8, I32 ->
          value == Integer.MIN_VALUE
              ? new Text("-2147483647 - 1", Text.ADDITIVE)
              : signed(value, "");
      case U32 -> Text.atom(value + "u");
      case I64 ->
          value == Long.MIN_VALUE
              ? new Text("-9223372036854775807LL - 1", Text.ADDITIVE)
              : signed(value, "LL");
      case U64 -> Text.atom(Long.toUnsignedString(value) + "ULL");
      case F8E4M3, F8E5M2, F16, BF16, F32, F64, MBARRIER, HANDLE ->
          throw new IllegalArgumentException("integer constant of type " + imm.type());
    };
  }

  private static Text signed(long value, String suffix) {
    return new Text(value + suffix, value < 0 ? Text.UNARY : Text.ATOM);
  }

  /** A float constant, exact to the bit (all NaNs are one). */
  static Text constant(Expr.FloatImm imm) {
    double value = imm.value();
    return switch (imm.type().dtype()) {
      case F32 -> {
        if (Double.isFinite(value)) {
          // The shortest decimal that reads back as this float.
          yield decimal(Float.toString((float) value) + "f");
        }
        int bits = Double.isNaN(value) ? 0x7FFFFFFF : Float.floatToRawIntBits((float) value);
        yield Text.atom(String.format(Locale.ROOT, "__int_as_float(0x%08x)", bits));
      }
      case F64 -> {
        if (Double.isFinite(value)) {
          yield decimal(Double.toString(value));
        }
        long bits = Double.isNaN(value) ? Long.MAX_VALUE : Double.doubleToRawLongBits(value);
        yield Text.atom(String.format(Locale.ROOT, "__longlong_as_double(0x%016xLL)", bits));
      }
      case F16 -> bits("f16", Float.floatToFloat16((float) value) & 0xFFFF, 4);
      case BF16 -> bits("bf16", Numerics.bf16Bits(value) & 0xFFFF, 4);
      case F8E4M3 -> bits("f8e4m3", Numerics.e4m3Bits(value) & 0xFF, 2);
      case F8E5M2 -> bits("f8e5m2", Numerics.e5m2Bits(value) & 0xFF, 2);
      case BOOL, I8, U8, I32, U32, I64, U64, MBARRIER, HANDLE ->
          throw new IllegalArgumentException("float constant of type " + imm.type());
    };
  }

  private static Text decimal(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    return new Text(lower, lower.startsWith("-") ? Text.UNARY : Text.ATOM);
  }

  private static Text bits(String type, int bits, int digits) {
    return Text.atom(String.format(Locale.ROOT, "%s{0x%0" + digits + "x}", type, bits));
  }
}
