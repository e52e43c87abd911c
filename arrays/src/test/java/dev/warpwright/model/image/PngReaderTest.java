package dev.warpwright.model.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PngReaderTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void readsWhatIsWritten(int channels) {
    byte[] samples = new byte[7 * 5 * channels];
    new Random(3).nextBytes(samples);
    Path file = folder.resolve("a.png");
    Png.write(file, 7, 5, channels, samples);
    PngReader.Picture picture = PngReader.read(file);
    assertThat(picture.width()).isEqualTo(7);
    assertThat(picture.height()).isEqualTo(5);
    assertThat(picture.channels()).isEqualTo(channels);
    for (int i = 0; i < samples.length; i++) {
      assertThat(picture.values()[i]).isEqualTo(Byte.toUnsignedInt(samples[i]) / 255f);
    }
  }

  /** Each kind of filter, with transparency: filtered here as the standard says. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4})
  void undoesEachFilter(int filter) throws IOException {
    int width = 5;
    byte[][] rows = new byte[4][width * 4];
    Random random = new Random(filter);
    for (byte[] row : rows) {
      random.nextBytes(row);
    }
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    try (DeflaterOutputStream out = new DeflaterOutputStream(data)) {
      byte[] above = new byte[width * 4];
      for (byte[] row : rows) {
        out.write(filter);
        for (int i = 0; i < row.length; i++) {
          int a = i < 4 ? 0 : row[i - 4] & 255;
          int b = above[i] & 255;
          int c = i < 4 ? 0 : above[i - 4] & 255;
          int p = a + b - c;
          int pa = Math.abs(p - a);
          int pb = Math.abs(p - b);
          int pc = Math.abs(p - c);
          int[] predicted = {0, a, b, (a + b) / 2, pa <= pb && pa <= pc ? a : pb <= pc ? b : c};
          out.write(row[i] - predicted[filter]);
        }
        above = row;
      }
    }
    PngReader.Picture picture = PngReader.read(file(6, 8, data.toByteArray()));
    for (int y = 0; y < 4; y++) {
      for (int x = 0; x < width; x++) {
        for (int c = 0; c < 3; c++) {
          assertThat(picture.values()[(y * width + x) * 3 + c])
              .isEqualTo((rows[y][x * 4 + c] & 255) / 255f);
        }
      }
    }
  }

  private Path file(int colour, int bits, byte[] data) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.write(new byte[] {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'});
    out.writeInt(13);
    out.write("IHDR".getBytes(StandardCharsets.US_ASCII));
    out.writeInt(5);
    out.writeInt(4);
    out.write(new byte[] {(byte) bits, (byte) colour, 0, 0, 0});
    out.writeInt(0);
    out.writeInt(data.length);
    out.write("IDAT".getBytes(StandardCharsets.US_ASCII));
    out.write(data);
    out.writeInt(0);
    out.writeInt(0);
    out.write("IEND".getBytes(StandardCharsets.US_ASCII));
    out.writeInt(0);
    return Files.write(folder.resolve("b.png"), bytes.toByteArray());
  }

  @Test
  void saysInOneLineWhatItCannotRead() throws IOException {
    byte[] good = Files.readAllBytes(file(2, 8, new byte[0]));
    for (int length = 0; length < good.length; length++) {
      Path cut = Files.write(folder.resolve("cut.png"), Arrays.copyOf(good, length));
      assertThatThrownBy(() -> PngReader.read(cut))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("cut.png: it");
    }
    Path palette = file(3, 8, new byte[0]);
    assertThatThrownBy(() -> PngReader.read(palette))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("save it with 8 bits a channel, grey or RGB");
    assertThatThrownBy(() -> PngReader.read(folder.resolve("none.png")))
        .isInstanceOf(UserError.class);
  }
}
