package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.type.Numerics;

/** What instructions of single threads do: loads, asynchronous copies, conversions. */
final class LaneMeanings {
  private LaneMeanings() {}

  /** So many 32-bit words from where operand 1 is to where operand 0 is. */
  static Meaning load(int count) {
    return lanes -> {
      for (int lane = 0; lane < lanes.count(); lane++) {
        if (lanes.active(lane)) {
          int[] words = new int[count];
          lanes.load(1, lane, words);
          lanes.store(0, lane, words);
        }
      }
    };
  }

  /** {@code (dst, src, back, present)}: 4 words from so many bytes before an element, or zeros. */
  static Meaning loadAround() {
    return lanes -> {
      for (int lane = 0; lane < lanes.count(); lane++) {
        if (lanes.active(lane)) {
          int back = Math.toIntExact(lanes.value(2, lane));
          int[] words = new int[4];
          if (lanes.value(3, lane) != 0) {
            for (int i = 0; i < words.length; i++) {
              words[i] = lanes.load32(1, lane, 4 * i - back);
            }
          }
          lanes.store(0, lane, words);
        }
      }
    };
  }

  /** {@code (dst, src, shift, count)}: 16 of 32 bytes, zeros past the first of them. */
  static Meaning storeShifted() {
    return lanes -> {
      for (int lane = 0; lane < lanes.count(); lane++) {
        if (lanes.active(lane)) {
          storeShifted(lanes, lane);
        }
      }
    };
  }

  private static void storeShifted(Lanes lanes, int lane) {
    int shift = Math.toIntExact(lanes.value(2, lane));
    long count = lanes.value(3, lane);
    if (shift < 0 || shift > 15) {
      throw new IllegalStateException("a shift by " + shift + " bytes, not by 0 to 15");
    }
    int[] from = new int[8];
    lanes.load(1, lane, from);
    int[] words = new int[4];
    for (int at = 0; at < Math.min(count, 16); at++) {
      int place = at + shift;
      words[at / 4] |= (from[place / 4] >>> 8 * (place % 4) & 0xFF) << 8 * (at % 4);
    }
    lanes.store(0, lane, words);
  }

  /** {@code (dst, src)}: four words of four bytes, rows become columns. */
  static Meaning transposeBytes() {
    return lanes -> {
      for (int lane = 0; lane < lanes.count(); lane++) {
        if (lanes.active(lane)) {
          int[] from = new int[4];
          lanes.load(1, lane, from);
          int[] words = new int[4];
          for (int at = 0; at < 16; at++) {
            words[at % 4] |= (from[at / 4] >>> 8 * (at % 4) & 0xFF) << 8 * (at / 4);
          }
          lanes.store(0, lane, words);
        }
      }
    };
  }

  /** {@code (dst, src, srcBytes)}: bytes from global to shared memory, zeros past those present. */
  static Meaning asyncCopy(int bytes) {
    return lanes -> {
      for (int lane = 0; lane < lanes.count(); lane++) {
        if (lanes.active(lane)) {
          copy(lanes, lane, bytes);
        }
      }
    };
  }

  private static void copy(Lanes lanes, int lane, int bytes) {
    long present = lanes.value(2, lane);
    if (present < 0 || present > bytes || present % 4 != 0) {
      throw new IllegalStateException(
          "cp.async."
              + bytes
              + " with srcBytes "
              + present
              + ", not a multiple of 4 up to "
              + bytes);
    }
    for (int at = 0; at < bytes; at += 4) {
      lanes.store32(0, lane, at, at < present ? lanes.load32(1, lane, at) : 0);
    }
  }

  /** An f32 rounded to tf32, as the bits of an f32. */
  static Meaning tf32() {
    return eachLane(
        (lanes, lane) -> Float.floatToRawIntBits(Numerics.tf32(floatValue(lanes, 0, lane))));
  }

  /** An f32 as it is. */
  static Meaning copied() {
    return eachLane((lanes, lane) -> Float.floatToRawIntBits(floatValue(lanes, 0, lane)));
  }

  /** An f32, or zero if it is negative. */
  static Meaning rectified() {
    return eachLane(
        (lanes, lane) -> Float.floatToRawIntBits((float) relu(floatValue(lanes, 0, lane))));
  }

  /** A product and a sum in f32, rounded once, as a number from 0 to 1. */
  static Meaning saturatedFma() {
    return eachLane(
        (lanes, lane) ->
            Float.floatToRawIntBits(
                Numerics.saturatedFma(
                    floatValue(lanes, 0, lane),
                    floatValue(lanes, 1, lane),
                    floatValue(lanes, 2, lane))));
  }

  /** Two f32 rounded to 16 bits each, the first in the low half. */
  static Meaning pack(HalfBits round) {
    return eachLane(
        (lanes, lane) ->
            (round.of(floatValue(lanes, 0, lane)) & 0xFFFF)
                | round.of(floatValue(lanes, 1, lane)) << 16);
  }

  /** A half of a register as f32. */
  static Meaning unpack(HalfValue half) {
    return eachLane((lanes, lane) -> Float.floatToRawIntBits(half.of((int) lanes.value(0, lane))));
  }

  /** The value of half a register. */
  @FunctionalInterface
  interface HalfValue {
    float of(int pair);
  }

  static double relu(double x) {
    return x <= 0 ? 0 : x;
  }

  /** Bits of the 16-bit float nearest to a value. */
  @FunctionalInterface
  interface HalfBits {
    short of(double value);
  }

  /** A 32-bit result from one lane's operands. */
  @FunctionalInterface
  private interface LaneFunction {
    int of(Lanes lanes, int lane);
  }

  private static Meaning eachLane(LaneFunction function) {
    return lanes -> {
      for (int lane = 0; lane < lanes.count(); lane++) {
        if (lanes.active(lane)) {
          lanes.result(lane, function.of(lanes, lane) & 0xFFFF_FFFFL);
        }
      }
    };
  }

  private static float floatValue(Lanes lanes, int operand, int lane) {
    return Float.intBitsToFloat((int) lanes.value(operand, lane));
  }
}
