package dev.warpwright.cli.hostile;

import java.util.List;
import java.util.Random;

/** Odd values: at the ends of types, around powers of two, of no type at all. */
final class Odd {
  private static final long[] NUMBERS = {
    0,
    1,
    2,
    3,
    5,
    7,
    8,
    13,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    100,
    127,
    128,
    129,
    255,
    256,
    257,
    1000,
    1023,
    1024,
    1025,
    4095,
    4096,
    4097,
    65535,
    65536,
    65537,
    1_000_000,
    16_777_215,
    16_777_216,
    2_147_483_639,
    2_147_483_646,
    2_147_483_647,
    2_147_483_648L,
    4_294_967_295L,
    4_294_967_296L,
    4_294_967_297L,
    1L << 40,
    (1L << 53) + 1,
    (1L << 60) - 1,
    1L << 61,
    1L << 62,
    3_037_000_500L,
    Long.MAX_VALUE - 1,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    -1,
    -2,
    -64,
    -2_147_483_648L
  };

  private static final List<String> WORDS =
      List.of(
          "",
          " ",
          "0",
          "-0",
          "+1",
          "1e9",
          "1e999",
          "-1e-999",
          "NaN",
          "inf",
          "-inf",
          "0x10",
          "1.5",
          ".",
          "..",
          "/",
          "''",
          "\"",
          "\\",
          "\n",
          "\u0000",
          "\t",
          "%s%n",
          "%",
          "${HOME}",
          "$(id)",
          "é",
          "\u0661\u0662",
          "\ud83d\ude00",
          "\u202e",
          "null",
          "true",
          "none",
          "auto",
          "a=b=c",
          "=",
          ",",
          ";",
          "-",
          "--",
          "-1",
          "x".repeat(5000),
          "9".repeat(400),
          "(".repeat(3000),
          "999999999999999999",
          "9223372036854775808",
          "4096,4096",
          "0x0",
          "1x1x1",
          "row:0",
          ":");

  private Odd() {}

  static long number(Random random) {
    return NUMBERS[random.nextInt(NUMBERS.length)];
  }

  /** A number that loops may have: what runs stays short. */
  static long small(Random random) {
    return random.nextInt(10) == 0 ? -random.nextInt(3) : random.nextInt(70);
  }

  static String word(Random random) {
    return random.nextInt(3) == 0 ? Long.toString(number(random)) : of(random, WORDS);
  }

  static <T> T of(Random random, List<T> list) {
    return list.get(random.nextInt(list.size()));
  }
}
