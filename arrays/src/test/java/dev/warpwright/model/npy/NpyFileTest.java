package dev.warpwright.model.npy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NpyFileTest {
  /** What NumPy writes for the fields of a header after the dictionary: spaces, then a line end. */
  private static final String MATRIX_F4 =
      "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDMpLCB9"
          + "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAACAPw"
          + "AAAEAAAEBAAACAQAAAoEA=";

  private static final String BIG_ENDIAN_V3 =
      "k05VTVBZAwB0AAAAeydkZXNjcic6ICc+ZjgnLCAnZm9ydHJhbl9vcmRlcic6IEZhbHNlLCAnc2hhcGUnOiAoMiwpLCB9"
          + "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo/+AAAAAAAAM"
          + "AAAAAAAAAA";

  @TempDir Path folder;

  private NpyArray read(byte[] bytes) throws IOException {
    Path file = folder.resolve("x.npy");
    Files.write(file, bytes);
    return NpyFile.read(file);
  }

  private static byte[] npy(int version, String header, byte... data) {
    byte[] text = header.getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', (byte) version, 0});
    for (int i = 0; i < (version == 1 ? 2 : 4); i++) {
      out.write(text.length >>> 8 * i);
    }
    out.writeBytes(text);
    out.writeBytes(data);
    return out.toByteArray();
  }

  private static String header(String descr, String order, String shape) {
    return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  }

  @Test
  void readsWhatNumpyWrites() throws IOException {
    NpyArray matrix = read(Base64.getDecoder().decode(MATRIX_F4));
    assertThat(matrix.shape()).containsExactly(2L, 3L);
    assertThat(matrix.type()).isEqualTo(NpyType.F4);
    assertThat(matrix.toFloats()).containsExactly(0, 1, 2, 3, 4, 5);
    NpyArray swapped = read(Base64.getDecoder().decode(BIG_ENDIAN_V3));
    assertThat(swapped.toDoubles()).containsExactly(1.5, -2);
  }

  @Test
  void writesWhatNumpyWrites() throws IOException {
    Path file = folder.resolve("y.npy");
    NpyFile.write(file, List.of(2L, 3L), new float[] {0, 1, 2, 3, 4, 5});
    assertThat(Files.readAllBytes(file)).isEqualTo(Base64.getDecoder().decode(MATRIX_F4));
  }

  @Test
  void readsWhatItWrites() {
    long seed = Long.getLong("warpwright.seed", new Random().nextLong());
    System.out.println("NpyFileTest seed: " + seed + " (repeat with -Dwarpwright.seed)");
    double[] values = new SplittableRandom(seed).doubles(5000, -1e3, 1e3).toArray();
    Path file = folder.resolve("y.npy");
    NpyFile.write(file, List.of(50L, 1L, 100L), values);
    assertThat(NpyFile.read(file).toDoubles()).containsExactly(values);
    NpyFile.write(file, List.of(5000L), values);
    assertThat(NpyFile.read(file).shape()).containsExactly(5000L);
    NpyFile.write(file, List.of(), new float[] {3});
    assertThat(NpyFile.read(file).shape()).isEmpty();
    NpyFile.write(file, List.of(0L, 3L), new float[0]);
    assertThat(NpyFile.read(file).toFloats()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "|b1, 1, 1",
    "|i1, 255, -1",
    "|u1, 255, 255",
    "<i2, 254 255, -2",
    "<u2, 254 255, 65534",
    "<i4, 1 0 0 128, -2147483647",
    "<u4, 1 0 0 128, 2147483649",
    ">i2, 1 2, 258",
    "<i8, 254 255 255 255 255 255 255 255, -2",
    "<u8, 255 255 255 255 255 255 255 255, 18446744073709551616",
    "<f2, 0 62, 1.5",
    "=f2, 0 62, 1.5"
  })
  void readsEachType(String descr, String bytes, double expected) throws IOException {
    String[] parts = bytes.split(" ");
    byte[] data = new byte[parts.length];
    for (int i = 0; i < data.length; i++) {
      data[i] = (byte) Integer.parseInt(parts[i]);
    }
    NpyArray array = read(npy(1, header(descr, "False", "()"), data));
    assertThat(array.toDoubles()).containsExactly(expected);
    assertThat(array.toFloats()).containsExactly((float) expected);
  }

  @Test
  void transposesFortranOrder() throws IOException {
    byte[] data = new byte[24];
    for (int i = 0; i < 2; i++) {
      for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 4; k++) {
          data[i + 2 * j + 6 * k] = (byte) (12 * i + 4 * j + k);
        }
      }
    }
    NpyArray array = read(npy(1, header("|i1", "True", "(2, 3, 4)"), data));
    assertThat(array.toDoubles()).startsWith(0, 1, 2, 3, 4).endsWith(22, 23).isSorted();
  }

  @Test
  void readsHeadersAsOtherWritersFormatThem() throws IOException {
    String odd = "{\"shape\":(1L,),\t\"fortran_order\" : False,'descr':\"|u1\"}";
    assertThat(read(npy(2, odd, (byte) 7)).toFloats()).containsExactly(7);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "<f4; (1000000000,); is truncated: shape",
        "<f4; (9223372036854775807, 9223372036854775807); is truncated: shape",
        "<f4; (99999999999999999999,); its shape is too large",
        "<f4; (1,); is truncated",
        "<f4; (4611686018427387904, 4611686018427387904, 0); is truncated",
        "<f4; (); is truncated",
        "<f4; (0,); has 2 bytes more",
        "|u1; (1,); has 1 bytes more",
        "<f4; (2; its header is malformed",
        "<f4; (2); its shape is a number, not a tuple",
        "<f4; (-2,); its header is malformed",
        "<f4; (2 3); its header is malformed",
        "<f4; 2; its header is malformed",
        "<c8; (1,); has element type \\'<c8\\'; supported: float16",
        "|O; (1,); has element type",
        "|f4; (1,); has element type",
        "f4; (1,); has element type"
      })
  void refusesHeadersThatDoNotFit(String descr, String shape, String message) {
    String expected = message.replace("\\'", "'");
    assertRefused(npy(1, header(descr, "False", shape), new byte[2]), expected);
  }

  @Test
  void refusesMalformedDictionaries() {
    assertRefused(npy(1, "{}"), "lacks descr, fortran_order or shape");
    assertRefused(npy(1, ""), "ends too early");
    assertRefused(npy(1, "{'descr': '<f4'"), "ends too early");
    assertRefused(npy(1, "{'descr': '<f4', 'descr': '<f4'}"), "has descr twice");
    assertRefused(npy(1, "{'evil\n': 1}"), "unknown key");
    assertRefused(npy(1, "{'descr': '<f\\x34'}"), "malformed string");
    assertRefused(npy(1, "{'descr': [('a', '<f4')]}"), "named fields");
    assertRefused(npy(1, "{'fortran_order': __import__('os')}"), "malformed");
    assertRefused(npy(1, header("<f4", "False", "()").trim() + "x"), "after the closing brace");
    assertRefused(npy(1, header("<f4", "False", "(" + "1,".repeat(65) + ")")), "64 dimensions");
    assertRefused(npy(4, "{}"), "version 4");
    assertRefused(npy(2, "{'descr': '" + "x".repeat(20_000)), "which is too long");
    assertRefused("hello, world".getBytes(StandardCharsets.UTF_8), "is no .npy file");
  }

  @Test
  void refusesEveryPrefix() throws IOException {
    byte[] whole = Base64.getDecoder().decode(MATRIX_F4);
    for (int length = 0; length < whole.length; length++) {
      assertRefused(Arrays.copyOf(whole, length), "");
    }
  }

  /** Whatever the bytes are, the answer is an array or a clean error. */
  @Test
  void survivesRandomMutations() throws IOException {
    long seed = Long.getLong("warpwright.seed", new Random().nextLong());
    System.out.println("NpyFileTest seed: " + seed + " (repeat with -Dwarpwright.seed)");
    SplittableRandom random = new SplittableRandom(seed);
    byte[] whole = npy(1, header("<f2", "True", "(3, 2)"), new byte[12]);
    int accepted = 0;
    for (int i = 0; i < 3000; i++) {
      byte[] mutated = whole.clone();
      for (int j = random.nextInt(1, 4); j > 0; j--) {
        mutated[random.nextInt(mutated.length)] =
            (byte) random.nextInt(random.nextBoolean() ? 256 : 64);
      }
      try {
        assertThat(read(mutated).toDoubles()).hasSizeLessThan(13);
        accepted++;
      } catch (UserError e) {
        assertThat(e.getMessage().lines()).hasSize(1);
      }
    }
    assertThat(accepted).isBetween(1, 2999);
  }

  @Test
  void refusesFilesThatCannotBeRead() {
    assertThatThrownBy(() -> NpyFile.read(folder.resolve("none.npy")))
        .isInstanceOf(UserError.class)
        .hasMessageEndingWith("none.npy: no such file");
    assertThatThrownBy(() -> NpyFile.read(folder))
        .isInstanceOf(UserError.class)
        .hasMessageEndingWith(": is a folder, not a file");
  }

  private void assertRefused(byte[] bytes, String message) {
    assertThatThrownBy(() -> read(bytes))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("x.npy: ")
        .hasMessageContaining(message)
        .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
  }
}
