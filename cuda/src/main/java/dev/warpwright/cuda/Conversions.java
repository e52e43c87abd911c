package dev.warpwright.cuda;

import dev.warpwright.ir.type.DType;
import java.util.Locale;

/** Casts and bit casts of scalars. */
final class Conversions {
  private Conversions() {}

  /** The value converted as the IR says: floats to nearest even, to integers saturating. */
  static Text cast(Uses uses, DType from, DType to, Text x) {
    if (from == to) {
      return x;
    }
    if (to == DType.BOOL) {
      Text number = CudaTypes.isStruct(from) ? cast(uses, from, DType.F32, x) : x;
      return new Text(number.in(Text.RELATIONAL) + " != 0", Text.EQUALITY);
    }
    if (CudaTypes.isStruct(to)) {
      return toSmallFloat(uses, from, to, x);
    }
    if (CudaTypes.isStruct(from)) {
      Helper helper =
          switch (from) {
            case F16 -> Helper.F16_TO_F32;
            case BF16 -> Helper.BF16_TO_F32;
            case F8E4M3 -> Helper.F8E4M3_TO_F32;
            default -> Helper.F8E5M2_TO_F32;
          };
      uses.helper(helper);
      return cast(uses, DType.F32, to, Text.atom("to_f32(" + x + ")"));
    }
    if (from.isFloat() && to.isInt()) {
      return toInt(from, to, x);
    }
    return new Text("(" + CudaTypes.name(to) + ")" + x.in(Text.UNARY), Text.UNARY);
  }

  private static Text toSmallFloat(Uses uses, DType from, DType to, Text x) {
    boolean isWide = from == DType.F64 || (from.isInt() && from.bits() >= 32);
    boolean isF8 = to.bits() == 8;
    if (isWide && isF8) {
      throw new IllegalArgumentException("cast from " + from + " to " + to + ": cast to f32 first");
    }
    Text source = cast(uses, from, isWide ? DType.F64 : DType.F32, x);
    uses.helper(
        switch (to) {
          case F16 -> isWide ? Helper.F64_TO_F16 : Helper.F32_TO_F16;
          case BF16 -> isWide ? Helper.F64_TO_BF16 : Helper.F32_TO_BF16;
          case F8E4M3 -> Helper.F32_TO_F8E4M3;
          default -> Helper.F32_TO_F8E5M2;
        });
    return Text.atom("to_" + CudaTypes.name(to) + "(" + source + ")");
  }

  /** C++ leaves values that do not fit undefined; these conversions saturate. */
  private static Text toInt(DType from, DType to, Text x) {
    String source = from == DType.F32 ? "float" : "double";
    return switch (to) {
      case I32 -> Text.atom("__" + source + "2int_rz(" + x + ")");
      case U32 -> Text.atom("__" + source + "2uint_rz(" + x + ")");
      case I64 -> Text.atom("__" + source + "2ll_rz(" + x + ")");
      case U64 -> Text.atom("__" + source + "2ull_rz(" + x + ")");
      case I8 -> clamped("signed char", -128, 127, source, x);
      case U8 -> clamped("unsigned char", 0, 255, source, x);
      default -> throw new IllegalArgumentException(to + " is no integer");
    };
  }

  private static Text clamped(String type, int min, int max, String source, Text x) {
    return new Text(
        String.format(
            Locale.ROOT, "(%s)min(max(__%s2int_rz(%s), %d), %d)", type, source, x, min, max),
        Text.UNARY);
  }

  /** The same bits as another scalar type of the same size. */
  static Text bitcast(Uses uses, DType from, DType to, Text x) {
    if (from == to) {
      return x;
    }
    if (from.isInt() && to.isInt()) {
      return new Text("(" + CudaTypes.name(to) + ")" + x.in(Text.UNARY), Text.UNARY);
    }
    return fromBits(uses, to, bits(from, x));
  }

  /** The bits as an unsigned integer, of at least as many bits. */
  static Text bits(DType from, Text x) {
    return switch (from) {
      case F8E4M3, F8E5M2, F16, BF16 -> Text.atom(x.in(Text.ATOM) + ".bits");
      case F32 -> Text.atom("__float_as_uint(" + x + ")");
      case F64 -> new Text("(unsigned long long)__double_as_longlong(" + x + ")", Text.UNARY);
      case I8 -> new Text("(unsigned char)" + x.in(Text.UNARY), Text.UNARY);
      case I32 -> new Text("(unsigned)" + x.in(Text.UNARY), Text.UNARY);
      case I64 -> new Text("(unsigned long long)" + x.in(Text.UNARY), Text.UNARY);
      case BOOL, U8, U32, U64 -> x;
      case MBARRIER, HANDLE -> throw new IllegalArgumentException("bits of a " + from);
    };
  }

  /** The value with these bits, the lowest ones of an unsigned integer. */
  static Text fromBits(Uses uses, DType to, Text bits) {
    uses.type(to);
    return switch (to) {
      case F8E4M3, F8E5M2 -> Text.atom(to.text() + "{(unsigned char)" + bits.in(Text.UNARY) + "}");
      case F16, BF16 -> Text.atom(to.text() + "{(unsigned short)" + bits.in(Text.UNARY) + "}");
      case F32 -> Text.atom("__uint_as_float(" + bits + ")");
      case F64 -> Text.atom("__longlong_as_double((long long)" + bits.in(Text.UNARY) + ")");
      case BOOL, I8, U8, I32, I64 ->
          new Text("(" + CudaTypes.name(to) + ")" + bits.in(Text.UNARY), Text.UNARY);
      case U32, U64 -> bits;
      case MBARRIER, HANDLE -> throw new IllegalArgumentException("a " + to + " from bits");
    };
  }
}
