package dev.warpwright.jvm;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;

/** How the IR's types appear in bytecode. */
final class JvmTypes {
  private static final String VECTOR_PACKAGE = "jdk.incubator.vector";

  static final ClassDesc VECTOR = ClassDesc.of(VECTOR_PACKAGE, "Vector");
  static final ClassDesc MASK = ClassDesc.of(VECTOR_PACKAGE, "VectorMask");
  static final ClassDesc SPECIES = ClassDesc.of(VECTOR_PACKAGE, "VectorSpecies");
  static final ClassDesc OPERATORS = ClassDesc.of(VECTOR_PACKAGE, "VectorOperators");
  static final ClassDesc FLOAT_VECTOR = ClassDesc.of(VECTOR_PACKAGE, "FloatVector");
  static final ClassDesc DOUBLE_VECTOR = ClassDesc.of(VECTOR_PACKAGE, "DoubleVector");
  static final ClassDesc INT_VECTOR = ClassDesc.of(VECTOR_PACKAGE, "IntVector");
  static final ClassDesc LONG_VECTOR = ClassDesc.of(VECTOR_PACKAGE, "LongVector");
  static final ClassDesc SHORT_VECTOR = ClassDesc.of(VECTOR_PACKAGE, "ShortVector");

  private JvmTypes() {}

  /** Class of the array that holds elements of the type. */
  static Class<?> arrayClass(DType dtype) {
    return switch (dtype) {
      case BOOL, I8, U8, F8E4M3, F8E5M2 -> byte[].class;
      case I32, U32 -> int[].class;
      case I64, U64 -> long[].class;
      case F16, BF16 -> short[].class;
      case F32 -> float[].class;
      case F64 -> double[].class;
      case MBARRIER, HANDLE -> throw refused("a buffer of " + dtype);
    };
  }

  static ClassDesc arrayDesc(DType dtype) {
    return arrayClass(dtype).describeConstable().orElseThrow();
  }

  /**
   * How a scalar lies on the stack: integers of up to 32 bits as int (unsigned ones wrapped to
   * their width), floats of up to 32 bits as the float of the same value.
   */
  static TypeKind scalarKind(DType dtype) {
    return switch (dtype) {
      case BOOL, I8, U8, I32, U32 -> TypeKind.INT;
      case I64, U64 -> TypeKind.LONG;
      case F8E4M3, F8E5M2, F16, BF16, F32 -> TypeKind.FLOAT;
      case F64 -> TypeKind.DOUBLE;
      case MBARRIER, HANDLE -> throw refused("a value of " + dtype);
    };
  }

  /** Stack kind of a value: a reference where it has several lanes. */
  static TypeKind kind(Type type) {
    return type.isScalar() ? scalarKind(type.dtype()) : TypeKind.REFERENCE;
  }

  /** Descriptor of a value. Vectors of f16 and bf16 are held as vectors of the same f32 values. */
  static ClassDesc desc(Type type) {
    if (type.isScalar()) {
      return switch (scalarKind(type.dtype())) {
        case INT -> CD_int;
        case LONG -> CD_long;
        case FLOAT -> CD_float;
        case DOUBLE -> CD_double;
        case BOOLEAN, BYTE, CHAR, SHORT, REFERENCE, VOID ->
            throw new IllegalArgumentException("not a scalar kind");
      };
    }
    return type.dtype() == DType.BOOL ? MASK : vectorDesc(type.dtype());
  }

  static ClassDesc vectorDesc(DType dtype) {
    return switch (dtype) {
      case F32, F16, BF16 -> FLOAT_VECTOR;
      case F64 -> DOUBLE_VECTOR;
      case I32, U32 -> INT_VECTOR;
      case I64, U64 -> LONG_VECTOR;
      case I8, U8, BOOL, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
          throw refused("vector arithmetic on " + dtype);
    };
  }

  /** Bits of a lane while it is in a register. */
  static int laneBits(DType dtype) {
    return switch (dtype) {
      case F32, F16, BF16, I32, U32 -> 32;
      case F64, I64, U64 -> 64;
      case I8, U8, BOOL, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
          throw refused("vector arithmetic on " + dtype);
    };
  }

  /** Name of the static field that holds the species of so many bits. */
  static String speciesField(int bits) {
    return switch (bits) {
      case 64, 128, 256, 512 -> "SPECIES_" + bits;
      default -> throw refused("a vector of " + bits + " bits");
    };
  }

  static String speciesField(Type type) {
    return speciesField(type.lanes() * laneBits(type.dtype()));
  }

  static IllegalArgumentException refused(String what) {
    return new IllegalArgumentException("the JVM back end cannot compile " + what);
  }
}
