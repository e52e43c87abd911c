package dev.warpwright.model.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.warpwright.base.UserError;
import dev.warpwright.model.Repository;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StateDictReaderTest {
  private static final int MUTATIONS = Integer.getInteger("warpwright.mutations", 20_000);
  private static final String ORDERED_DICT = "ccollections\nOrderedDict\n)R";

  /** A tensor of six floats in storage 0, as a pickle builds it. */
  private static String tensor(String shape, String strides, int offset) {
    return "ctorch._utils\n_rebuild_tensor_v2\n(("
        + text("storage")
        + "ctorch\nFloatStorage\n"
        + text("0")
        + text("cpu")
        + "K\u0006tQK"
        + (char) offset
        + shape
        + strides
        + "\u0089"
        + ORDERED_DICT
        + "tR";
  }

  private static String text(String text) {
    return "X" + (char) text.length() + "\0\0\0" + text;
  }

  private static String dict(String key, String value) {
    return "\u0080\u0002" + ORDERED_DICT + text(key) + value + "s.";
  }

  private static byte[] zip(int method, String... namesAndContents) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      for (int i = 0; i < namesAndContents.length; i += 2) {
        byte[] content = namesAndContents[i + 1].getBytes(StandardCharsets.ISO_8859_1);
        ZipEntry entry = new ZipEntry(namesAndContents[i]);
        entry.setMethod(method);
        if (method == ZipEntry.STORED) {
          CRC32 crc = new CRC32();
          crc.update(content);
          entry.setSize(content.length);
          entry.setCrc(crc.getValue());
        }
        zip.putNextEntry(entry);
        zip.write(content);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return bytes.toByteArray();
  }

  /** An archive with a pickle and the six floats 0 to 5. */
  private static byte[] archive(String pickle) {
    StringBuilder floats = new StringBuilder();
    for (float f = 0; f < 6; f++) {
      int bits = Float.floatToIntBits(f);
      for (int i = 0; i < 4; i++) {
        floats.append((char) (bits >>> 8 * i & 0xFF));
      }
    }
    return zip(ZipEntry.STORED, "a/data.pkl", pickle, "a/data/0", floats.toString());
  }

  private static Weights read(byte[] bytes) {
    return StateDictReader.read("w", MemorySegment.ofArray(bytes));
  }

  private static void assertRefused(byte[] bytes, String why) {
    assertThatThrownBy(() -> read(bytes))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith("w: ")
        .hasMessageContaining(why)
        .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
  }

  @Test
  void readsTensorsAndTransposedMatrices() {
    Weights plain = read(archive(dict("t", tensor("K\2K\3\u0086", "K\3K\1\u0086", 0))));
    assertThat(plain.tensor("t").shape()).containsExactly(2L, 3L);
    assertThat(plain.tensor("t").toFloats()).containsExactly(0, 1, 2, 3, 4, 5);
    Weights transposed = read(archive(dict("t", tensor("K\3K\2\u0086", "K\1K\3\u0086", 0))));
    assertThat(transposed.tensor("t").toFloats()).containsExactly(0, 3, 1, 4, 2, 5);
    Weights part = read(archive(dict("t", tensor("K\2\u0085", "K\1\u0085", 4))));
    assertThat(part.tensor("t").toFloats()).containsExactly(4, 5);
    assertThat(read(archive(dict("t", tensor(")", ")", 5)))).shape("t")).isEmpty();
  }

  @Test
  void refusesViewsThatDoNotFit() {
    assertRefused(archive(dict("t", tensor("K\2K\4\u0086", "K\4K\1\u0086", 0))), "storage has 6");
    assertRefused(archive(dict("t", tensor("K\2K\3\u0086", "K\3K\1\u0086", 1))), "storage has 6");
    assertRefused(archive(dict("t", tensor("K\3\u0085", "K\2\u0085", 0))), "call .contiguous()");
    assertRefused(archive(dict("t", tensor("K\2K\2\u0086", "K\3K\1\u0086", 0))), "strides [3, 1]");
    assertRefused(archive(dict("t", tensor("J\0\0\0\u0080\u0085", "K\1\u0085", 0))), "natural");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "cos|system|names 'os.system', which no state dict needs; nothing was called; save the",
        "cbuiltins|eval|names 'builtins.eval'",
        "c__main__|MyNet|names '__main__.MyNet'",
        "ctorch.nn.modules.linear|Linear|torch.save(model.state_dict(), \"weights.pth\")",
        "ctorch|load|names 'torch.load'",
        "ctorch|ComplexFloatStorage|names 'torch.ComplexFloatStorage'",
      })
  void refusesGlobalsByName(String module, String name, String why) {
    assertRefused(archive("\u0080\u0002" + module + "\n" + name + "\n)R."), why);
    String stacked = text(module.substring(1)) + text(name) + "\u0093)R.";
    assertRefused(archive("\u0080\u0004" + stacked), why);
  }

  @Test
  void refusesEveryOtherInstructionByName() {
    assertRefused(archive("\u0080\u0002ios\nsystem\n."), "instruction INST, which no state");
    assertRefused(archive("\u0080\u0002]."), "instruction EMPTY_LIST");
    assertRefused(archive("\u0080\u0002G12345678."), "instruction BINFLOAT");
    assertRefused(archive("\u0080\u0002\u0081."), "instruction NEWOBJ");
    assertRefused(archive("\u0080\u0002\u0082\1."), "instruction EXT1");
    assertRefused(archive("\u0080\u0002o."), "instruction OBJ");
    assertRefused(archive("\u0080\u0002\u00FF"), "unknown instruction 0xFF");
  }

  @Test
  void refusesBrokenPickles() {
    assertRefused(archive(""), "truncated or corrupt");
    assertRefused(archive("\u0080\u0009."), "protocol 9");
    assertRefused(archive("."), "a value is missing");
    assertRefused(archive("t."), "a mark is missing");
    assertRefused(archive("(K\1s."), "a value is missing");
    assertRefused(archive("h\5."), "reads memo 5");
    assertRefused(archive("}}."), "left over");
    assertRefused(archive("K\1."), "holds no dictionary of tensors");
    assertRefused(archive(dict("epoch", "K\1")), "entry 'epoch' is no tensor");
    assertRefused(archive("}" + text("a") + "N" + text("b") + "Ns" + "sb."), "no dictionary");
    assertRefused(archive("}K\1Ns."), "a key that is no text");
    assertRefused(archive("})b."), "sets the state of an object");
    assertRefused(archive("X\u00FF\u00FF\u00FF\u00FF"), "truncated or corrupt");
    assertRefused(archive("\u0095\u00FF\u00FF\u00FF\u00FF\u00FF\u00FF\u00FF\u007F"), "truncated");
    assertRefused(archive("}".repeat(100_001)), "more than 100000 values");
    assertRefused(archive("(".repeat(4_000_001)), "more than 4000000 instructions");
    assertRefused(
        archive("}" + "\u0094".repeat(1_000_001)), "more than 1000000 values in the memo");
    assertRefused(archive("}".repeat((16 << 20) + 1)), "more than 16777216");
    assertRefused(archive("c" + "x".repeat(1000)), "longer than 300 characters");
    // a tuple in a tuple, a hundred thousand times
    assertRefused(archive("(" + ")" + "\u0085".repeat(100_000) + "t."), "no dictionary of tensors");
  }

  @Test
  void refusesOtherArchives() throws IOException {
    assertRefused(zip(ZipEntry.STORED, "a/readme", "x"), "no PyTorch file: it has no data.pkl");
    assertRefused(zip(ZipEntry.STORED, "data.pkl", "x"), "no PyTorch file");
    assertRefused(
        zip(ZipEntry.STORED, "m/data.pkl", "x", "m/constants.pkl", "x"), "TorchScript is not");
    assertRefused(zip(ZipEntry.DEFLATED, "m/code/x.py", "x"), "TorchScript is not");
    assertRefused(zip(ZipEntry.STORED, "m/archive_format", "pt2"), "it has no data.pkl");
    assertRefused(zip(ZipEntry.STORED, "a/data.pkl", "x", "a/byteorder", "big"), "byte order");
    String pickle = dict("t", tensor(")", ")", 0));
    assertRefused(archive(pickle.replace("\0\0\0" + "0X", "\0\0\0" + "9X")), "is missing");
  }

  @Test
  void refusesWhatTorchSaveDoesNotWrite() {
    String bomb = "\0".repeat(1_000_000);
    assertRefused(zip(ZipEntry.DEFLATED, "a/data.pkl", bomb), "is compressed");
    assertRefused(zip(ZipEntry.STORED, "a/../../etc/x", ""), "leaves the archive");
    assertRefused(zip(ZipEntry.STORED, "/a/data.pkl", ""), "leaves the archive");
    assertRefused(zip(ZipEntry.STORED, "a\\data.pkl", ""), "leaves the archive");
    byte[] twice = zip(ZipEntry.STORED, "a/data.pkl", "", "a/data.pkm", "");
    for (int i = 3; i < twice.length; i++) {
      twice[i] = twice[i] == 'm' && twice[i - 1] == 'k' ? (byte) 'l' : twice[i];
    }
    assertRefused(twice, "is there twice");
    byte[] encrypted = archive(dict("t", tensor(")", ")", 0)));
    int directory = new String(encrypted, StandardCharsets.ISO_8859_1).indexOf("PK\1\2");
    encrypted[directory + 8] |= 1;
    assertRefused(encrypted, "is encrypted");
    byte[] overlapping = archive(dict("t", tensor(")", ")", 0)));
    int size = overlapping[directory + 24];
    overlapping[directory + 24] = (byte) (size + 30);
    overlapping[directory + 20] = (byte) (size + 30);
    assertRefused(overlapping, "overlaps another");
  }

  @Test
  void comparesTheChecksumsOfWhatItReads() {
    byte[] whole = archive(dict("t", tensor("K\2K\3\u0086", "K\3K\1\u0086", 0)));
    byte[] content = whole.clone();
    int floats =
        new String(whole, StandardCharsets.ISO_8859_1).indexOf("a/data/0") + "a/data/0".length();
    content[floats + 7] ^= 1;
    assertRefused(content, "entry 'a/data/0' does not have its checksum");
  }

  @Test
  void refusesEveryPrefixAndSurvivesMutations() throws IOException {
    long seed = Long.getLong("warpwright.seed", new Random().nextLong());
    System.out.println("StateDictReaderTest seed: " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    byte[] small = archive(dict("t", tensor("K\3K\2\u0086", "K\1K\3\u0086", 0)));
    byte[] saved =
        Files.readAllBytes(Repository.model("tabular-tanh-sigmoid").resolve("state_dict.pth"));
    for (byte[] whole : new byte[][] {small, saved}) {
      assertThat(Refusal.readOrRefuse(StateDictReader::read, whole)).isNotNull();
      for (int length = 0; length < whole.length; length++) {
        byte[] prefix = Arrays.copyOf(whole, length);
        assertThat(Refusal.readOrRefuse(StateDictReader::read, prefix)).as("%d", length).isNull();
      }
    }
    assertTimeoutPreemptively(
        Duration.ofSeconds(60),
        () -> {
          int accepted = 0;
          for (int i = 0; i < MUTATIONS; i++) {
            // the pickle at the beginning, the directory at the end
            byte[] bytes =
                switch (i % 3) {
                  case 0 -> Refusal.mutate(small, 0, small.length, random);
                  case 1 -> Refusal.mutate(saved, 0, 800, random);
                  default -> Refusal.mutate(saved, saved.length - 1100, 1100, random);
                };
            accepted += Refusal.readOrRefuse(StateDictReader::read, bytes) == null ? 0 : 1;
          }
          assertThat(accepted).isBetween(1, MUTATIONS - 1);
        });
  }
}
