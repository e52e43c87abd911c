package dev.warpwright.model.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.warpwright.base.UserError;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SafetensorsReaderTest {
  private static final int MUTATIONS = Integer.getInteger("warpwright.mutations", 20_000);
  private static final String GOOD =
      "{\"__metadata__\":{\"format\":\"pt\"},"
          + "\"a\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},"
          + "\"n\":{\"dtype\":\"I16\",\"shape\":[],\"data_offsets\":[8,10]},"
          + "\"b\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[10,12]}} ";

  private static byte[] file(long length, String header, int data) {
    byte[] text = header.getBytes(StandardCharsets.UTF_8);
    ByteBuffer out = ByteBuffer.allocate(8 + text.length + data).order(ByteOrder.LITTLE_ENDIAN);
    out.putLong(length).put(text);
    if (data >= 8) {
      out.putFloat(1.5f).putFloat(-2);
    }
    return out.array();
  }

  private static byte[] file(String header, int data) {
    return file(header.getBytes(StandardCharsets.UTF_8).length, header, data);
  }

  private static void assertRefused(byte[] bytes, String why) {
    assertThatThrownBy(() -> SafetensorsReader.read("w", MemorySegment.ofArray(bytes)))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith("w: ")
        .hasMessageContaining(why)
        .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
  }

  @Test
  void reads() {
    Weights weights = SafetensorsReader.read("w", MemorySegment.ofArray(file(GOOD, 12)));
    assertThat(weights.names()).containsExactly("a", "n", "b");
    assertThat(weights.tensor("a").shape()).containsExactly(2L, 1L);
    assertThat(weights.tensor("a").toFloats()).containsExactly(1.5f, -2f);
    assertThat(weights.tensor("a")).isSameAs(weights.tensor("a"));
    assertThatThrownBy(() -> weights.tensor("n"))
        .hasMessage("w: tensor 'n' has type I16; supported: F32, F16, BF16, F64");
    assertThatThrownBy(() -> weights.tensor("c"))
        .hasMessage("w: has no tensor 'c'; it has 'a', 'n', 'b'");
  }

  @Test
  void refusesHeadersThatDoNotFit() {
    for (long length : new long[] {Long.MIN_VALUE, Long.MAX_VALUE, -1, 100_000_001}) {
      assertRefused(file(length, GOOD, 12), Long.toUnsignedString(length) + " bytes; at most");
    }
    assertRefused(file(100_000_000, GOOD, 12), "100000000 bytes announced");
    assertRefused(file(0, "", 0), "it ends too early");
    assertRefused(file("[]", 0), "its header is an array");
    assertRefused(file("[".repeat(1000), 0), "nested deeper than 32");
    assertRefused(file("[" + "1,".repeat(1_100_000) + "1]", 0), "more than 1000000 values");
    assertRefused(file("{\"a\":1}{", 0), "it goes on after its end");
    byte[] latin = file(GOOD, 12);
    latin[20] = (byte) 0xE9;
    assertRefused(latin, "no UTF-8");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "F99 | [2] | 0,8 | unsupported dtype 'F99'",
        "F32 | [2] | 0,9 | lies at bytes 0 to 9 of 8",
        "F32 | [2] | 8,0 | lies at bytes 8 to 0",
        "F32 | [3] | 0,8 | has 8 bytes, but F32[3] needs 12",
        "F32 | [1] | 4,8 | leaves a gap of 4 bytes",
        "F32 | [1] | 0,4 | 4 bytes after the last tensor",
        "F32 | [-2] | 0,8 | no whole number",
        "F32 | [2.0] | 0,8 | no whole number",
        "F32 | [9223372036854775807] | 0,8 | no whole number",
        "F32 | [999999999999999999,999999999999999999] | 0,8 | absurd shape",
        "F32 | [2] | 0 | needs two data_offsets",
        "F32 | 2 | 0,8 | shape is no array",
      })
  void refusesTensorsThatDoNotFit(String dtype, String shape, String offsets, String why) {
    String header =
        String.format(
            Locale.ROOT,
            "{\"a\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%s]}}",
            dtype,
            shape,
            offsets);
    assertRefused(file(header, 8), why);
  }

  @Test
  void refusesTensorsThatOverlapOrAreThereTwice() {
    String a = "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}";
    assertRefused(file("{" + a + "," + a + "}", 8), "key 'a' twice");
    assertRefused(file("{" + a + "," + a.replace("\"a\"", "\"b\"") + "}", 8), "overlaps another");
    assertRefused(file("{" + a.replace("}", ",\"x\":1}") + "}", 8), "and nothing else");
    assertRefused(file("{" + a + ",\"__metadata__\":[]}", 8), "__metadata__ must map");
  }

  @Test
  void refusesEveryPrefixAndSurvivesMutations() {
    long seed = Long.getLong("warpwright.seed", new Random().nextLong());
    System.out.println("SafetensorsReaderTest seed: " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    byte[] whole = file(GOOD, 12);
    for (int length = 0; length < whole.length; length++) {
      byte[] prefix = Arrays.copyOf(whole, length);
      assertThat(Refusal.readOrRefuse(SafetensorsReader::read, prefix)).as("%d", length).isNull();
    }
    assertTimeoutPreemptively(
        Duration.ofSeconds(60),
        () -> {
          int accepted = 0;
          for (int i = 0; i < MUTATIONS; i++) {
            byte[] bytes = Refusal.mutate(whole, 0, whole.length, random);
            accepted += Refusal.readOrRefuse(SafetensorsReader::read, bytes) == null ? 0 : 1;
          }
          assertThat(accepted).isBetween(1, MUTATIONS - 1);
        });
  }

  @Test
  void tensorsMayBeEmpty() {
    String empty = "{\"e\":{\"dtype\":\"F32\",\"shape\":[0,4],\"data_offsets\":[0,0]}}";
    Weights weights = SafetensorsReader.read("w", MemorySegment.ofArray(file(empty, 0)));
    assertThat(weights.shape("e")).isEqualTo(List.of(0L, 4L));
  }
}
