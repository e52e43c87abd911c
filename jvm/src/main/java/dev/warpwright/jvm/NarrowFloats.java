package dev.warpwright.jvm;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Vectors of f16 and bf16 as f32: widening when they are loaded, rounding to nearest even,
 * narrowing when they are stored. Integer arithmetic throughout; small enough to be inlined.
 */
final class NarrowFloats {
  private static final int F16_TO_F32 = 13;

  /** Makes up for the difference of the exponents' biases, 127 - 15. */
  private static final float REBIAS = 0x1p112f;

  private NarrowFloats() {}

  static FloatVector loadBf16(
      VectorSpecies<Short> from, VectorSpecies<Integer> to, short[] array, int offset) {
    IntVector bits = widen(from, to, array, offset);
    return bits.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
  }

  static FloatVector loadF16(
      VectorSpecies<Short> from, VectorSpecies<Integer> to, short[] array, int offset) {
    IntVector bits = widen(from, to, array, offset);
    IntVector magnitude =
        bits.lanewise(VectorOperators.AND, 0x7FFF).lanewise(VectorOperators.LSHL, F16_TO_F32);
    // The multiplication also turns subnormals of f16 into normal numbers.
    IntVector scaled = magnitude.reinterpretAsFloats().mul(REBIAS).reinterpretAsInts();
    VectorMask<Integer> special = magnitude.compare(VectorOperators.GE, 0x7C00 << F16_TO_F32);
    IntVector exponent = scaled.lanewise(VectorOperators.OR, 0x7F80_0000);
    IntVector sign = bits.lanewise(VectorOperators.AND, 0x8000).lanewise(VectorOperators.LSHL, 16);
    return scaled.blend(exponent, special).lanewise(VectorOperators.OR, sign).reinterpretAsFloats();
  }

  private static IntVector widen(
      VectorSpecies<Short> from, VectorSpecies<Integer> to, short[] array, int offset) {
    return (IntVector)
        ShortVector.fromArray(from, array, offset).convertShape(VectorOperators.S2I, to, 0);
  }

  static FloatVector roundBf16(FloatVector value) {
    IntVector bits = value.reinterpretAsInts();
    IntVector odd = bits.lanewise(VectorOperators.LSHR, 16).lanewise(VectorOperators.AND, 1);
    IntVector rounded = bits.add(odd).add(0x7FFF).lanewise(VectorOperators.AND, 0xFFFF_0000);
    return rounded
        .reinterpretAsFloats()
        .blend(Float.intBitsToFloat(0x7FFF_0000), value.compare(VectorOperators.NE, value));
  }

  static FloatVector roundF16(FloatVector value) {
    IntVector bits = value.reinterpretAsInts();
    IntVector sign = bits.lanewise(VectorOperators.AND, 0x8000_0000);
    FloatVector magnitude = value.abs();
    IntVector magnitudeBits = magnitude.reinterpretAsInts();
    IntVector odd =
        magnitudeBits.lanewise(VectorOperators.LSHR, 13).lanewise(VectorOperators.AND, 1);
    FloatVector normal =
        magnitudeBits
            .add(odd)
            .add(0x0FFF)
            .lanewise(VectorOperators.AND, 0xFFFF_E000)
            .reinterpretAsFloats();
    // Below 2^-14 the step is 2^-24: adding and subtracting 0.5 rounds to it.
    FloatVector subnormal = magnitude.add(0.5f).sub(0.5f);
    FloatVector rounded =
        normal
            .blend(subnormal, magnitude.compare(VectorOperators.LT, 0x1p-14f))
            .blend(Float.POSITIVE_INFINITY, magnitude.compare(VectorOperators.GE, 65520f));
    return rounded
        .blend(Float.NaN, value.compare(VectorOperators.NE, value))
        .reinterpretAsInts()
        .lanewise(VectorOperators.OR, sign)
        .reinterpretAsFloats();
  }

  /** Stores values that are bf16 already. */
  static void storeBf16(FloatVector value, VectorSpecies<Short> to, short[] array, int offset) {
    IntVector bits = value.reinterpretAsInts().lanewise(VectorOperators.LSHR, 16);
    narrow(bits, to).intoArray(array, offset);
  }

  /** Stores values that are f16 already. */
  static void storeF16(FloatVector value, VectorSpecies<Short> to, short[] array, int offset) {
    IntVector bits = value.reinterpretAsInts();
    IntVector sign = bits.lanewise(VectorOperators.LSHR, 16).lanewise(VectorOperators.AND, 0x8000);
    FloatVector magnitude = value.abs();
    IntVector scaled =
        magnitude.mul(1 / REBIAS).reinterpretAsInts().lanewise(VectorOperators.LSHR, F16_TO_F32);
    IntVector special =
        magnitude
            .reinterpretAsInts()
            .lanewise(VectorOperators.LSHR, F16_TO_F32)
            .lanewise(VectorOperators.AND, 0x7FFF);
    IntVector result =
        scaled.blend(
            special, magnitude.reinterpretAsInts().compare(VectorOperators.GE, 0x7F80_0000));
    narrow(result.lanewise(VectorOperators.OR, sign), to).intoArray(array, offset);
  }

  private static ShortVector narrow(IntVector bits, VectorSpecies<Short> to) {
    return (ShortVector) bits.convertShape(VectorOperators.I2S, to, 0);
  }
}
