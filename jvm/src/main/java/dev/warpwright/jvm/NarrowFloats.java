package dev.warpwright.jvm;

import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;

import dev.warpwright.ir.type.DType;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;

/**
 * Writes vectors of f16 and bf16 as f32: widening when they are loaded, rounding to nearest even,
 * narrowing when they are stored.
 *
 * <p>All of it is written out, because the JVM inlines methods that are not its own only where it
 * has counted enough calls; not inlined, they would make objects of their vectors. So it is as
 * short as possible too: it is repeated for every vector of a micro-kernel.
 */
final class NarrowFloats {
  /** Bits of the mantissa that f16 does not have. */
  private static final int DROPPED = 13;

  /** Makes up for the difference of the exponents' biases, 127 - 15. */
  private static final float REBIAS = 0x1p112f;

  private static final ClassDesc F = JvmTypes.FLOAT_VECTOR;
  private static final ClassDesc I = JvmTypes.INT_VECTOR;
  private static final ClassDesc OPERATORS = JvmTypes.OPERATORS;
  private static final ClassDesc BINARY = OPERATORS.nested("Binary");
  private static final ClassDesc ASSOCIATIVE = OPERATORS.nested("Associative");
  private static final ClassDesc COMPARISON = OPERATORS.nested("Comparison");
  private static final ClassDesc CONVERSION = OPERATORS.nested("Conversion");

  private final VectorEmitter vectors;
  private final CodeBuilder code;

  NarrowFloats(VectorEmitter vectors, CodeBuilder code) {
    this.vectors = vectors;
    this.code = code;
  }

  /** What the bits in the vector of shorts on the stack mean. */
  void widen(DType dtype, int lanes) {
    convert("S2I", 32 * lanes, I);
    if (dtype == DType.BF16) {
      binary("LSHL", 16);
      toFloats();
      return;
    }
    int bits = vectors.keep();
    code.aload(bits);
    associative("AND", 0x7FFF);
    binary("LSHL", DROPPED);
    int magnitude = vectors.keep();
    code.aload(magnitude);
    toFloats();
    // Turns subnormals of f16 into normal numbers, too.
    multiply(REBIAS);
    toInts();
    int scaled = vectors.keep();
    code.aload(scaled).aload(scaled);
    associative("OR", 0x7F80_0000);
    code.aload(magnitude)
        .getstatic(OPERATORS, "GE", COMPARISON)
        .loadConstant(0x7C00 << DROPPED)
        .invokevirtual(I, "compare", MethodTypeDesc.of(JvmTypes.MASK, COMPARISON, CD_int))
        .invokevirtual(I, "blend", MethodTypeDesc.of(I, JvmTypes.VECTOR, JvmTypes.MASK));
    code.getstatic(OPERATORS, "OR", ASSOCIATIVE).aload(bits);
    associative("AND", 0x8000);
    binary("LSHL", 16);
    code.invokevirtual(I, "lanewise", MethodTypeDesc.of(I, BINARY, JvmTypes.VECTOR));
    toFloats();
  }

  /** The f32 on the stack, rounded. */
  void round(DType dtype) {
    int value = vectors.keep();
    if (dtype == DType.BF16) {
      roundBf16(value);
    } else {
      roundF16(value);
    }
  }

  private void roundBf16(int value) {
    code.aload(value);
    toInts();
    int bits = vectors.keep();
    code.aload(bits);
    binary("LSHR", 16);
    associative("AND", 1);
    code.loadConstant(0x7FFF).invokevirtual(I, "add", MethodTypeDesc.of(I, CD_int));
    code.aload(bits).invokevirtual(I, "add", MethodTypeDesc.of(I, JvmTypes.VECTOR));
    associative("AND", 0xFFFF_0000);
    toFloats();
    code.loadConstant(Float.intBitsToFloat(0x7FFF_0000))
        .aload(value)
        .getstatic(OPERATORS, "NE", COMPARISON)
        .aload(value)
        .invokevirtual(F, "compare", MethodTypeDesc.of(JvmTypes.MASK, COMPARISON, JvmTypes.VECTOR))
        .invokevirtual(F, "blend", MethodTypeDesc.of(F, CD_float, JvmTypes.MASK));
  }

  /**
   * Adding 2^(e + 13) to the magnitude and subtracting it rounds to the step of f16 at the exponent
   * e; at exponents below -14 the step is that of -14. What is too large becomes infinite on the
   * way to another exponent and back.
   */
  private void roundF16(int value) {
    code.aload(value).invokevirtual(F, "abs", MethodTypeDesc.of(F));
    int magnitude = vectors.keep();
    code.aload(magnitude);
    toInts();
    code.loadConstant(Float.floatToRawIntBits(0x1p-14f))
        .invokevirtual(I, "max", MethodTypeDesc.of(I, CD_int));
    associative("AND", 0x7F80_0000);
    code.loadConstant(DROPPED << 23).invokevirtual(I, "add", MethodTypeDesc.of(I, CD_int));
    toFloats();
    int large = vectors.keep();
    code.aload(magnitude)
        .aload(large)
        .invokevirtual(F, "add", MethodTypeDesc.of(F, JvmTypes.VECTOR))
        .aload(large)
        .invokevirtual(F, "sub", MethodTypeDesc.of(F, JvmTypes.VECTOR));
    multiply(REBIAS);
    multiply(1 / REBIAS);
    toInts();
    code.getstatic(OPERATORS, "OR", ASSOCIATIVE).aload(value);
    toInts();
    associative("AND", 0x8000_0000);
    code.invokevirtual(I, "lanewise", MethodTypeDesc.of(I, BINARY, JvmTypes.VECTOR));
    toFloats();
  }

  /** The bits, as a vector of shorts, of the f32 on the stack, which is rounded already. */
  void narrow(DType dtype, int lanes) {
    if (dtype == DType.BF16) {
      toInts();
      binary("LSHR", 16);
    } else {
      int value = vectors.keep();
      code.aload(value);
      // Exponents of infinity and NaN keep their lowest five bits, all ones.
      multiply(1 / REBIAS);
      toInts();
      binary("LSHR", DROPPED);
      associative("AND", 0x7FFF);
      code.getstatic(OPERATORS, "OR", ASSOCIATIVE).aload(value);
      toInts();
      binary("LSHR", 16);
      associative("AND", 0x8000);
      code.invokevirtual(I, "lanewise", MethodTypeDesc.of(I, BINARY, JvmTypes.VECTOR));
    }
    convert("I2S", 16 * lanes, JvmTypes.SHORT_VECTOR);
  }

  // ---- instructions ------------------------------------------------------------------------

  private void toInts() {
    code.invokevirtual(F, "reinterpretAsInts", MethodTypeDesc.of(I));
  }

  private void toFloats() {
    code.invokevirtual(I, "reinterpretAsFloats", MethodTypeDesc.of(F));
  }

  private void multiply(float factor) {
    code.loadConstant(factor).invokevirtual(F, "mul", MethodTypeDesc.of(F, CD_float));
  }

  private void binary(String operator, int operand) {
    code.getstatic(OPERATORS, operator, BINARY);
    lanewise(operand);
  }

  private void associative(String operator, int operand) {
    code.getstatic(OPERATORS, operator, ASSOCIATIVE);
    lanewise(operand);
  }

  private void lanewise(int operand) {
    code.loadConstant(operand).invokevirtual(I, "lanewise", MethodTypeDesc.of(I, BINARY, CD_int));
  }

  private void convert(String conversion, int bits, ClassDesc to) {
    code.getstatic(OPERATORS, conversion, CONVERSION)
        .getstatic(to, JvmTypes.speciesField(bits), JvmTypes.SPECIES)
        .loadConstant(0)
        .invokevirtual(
            JvmTypes.VECTOR,
            "convertShape",
            MethodTypeDesc.of(JvmTypes.VECTOR, CONVERSION, JvmTypes.SPECIES, CD_int))
        .checkcast(to);
  }
}
