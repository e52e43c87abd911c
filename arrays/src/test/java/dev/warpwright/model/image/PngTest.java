package dev.warpwright.model.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The encoder against the decoder of the JDK. */
class PngTest {
  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({"1, 1, 1", "1, 1, 3", "7, 3, 1", "5, 9, 3", "300, 200, 3"})
  void decodesToWhatWasEncoded(int width, int height, int channels) throws IOException {
    long seed = Long.getLong("warpwright.seed", new Random().nextLong());
    System.out.println("PngTest seed: " + seed + " (repeat with -Dwarpwright.seed)");
    byte[] samples = new byte[width * height * channels];
    new SplittableRandom(seed).nextBytes(samples);
    Path file = folder.resolve("a.png");
    Png.write(file, width, height, channels, samples);
    BufferedImage image = ImageIO.read(file.toFile());
    assertThat(image.getWidth()).isEqualTo(width);
    assertThat(image.getHeight()).isEqualTo(height);
    assertThat(image.getRaster().getNumBands()).isEqualTo(channels);
    int[] decoded = image.getRaster().getPixels(0, 0, width, height, (int[]) null);
    for (int i = 0; i < samples.length; i++) {
      assertThat(decoded[i]).isEqualTo(Byte.toUnsignedInt(samples[i]));
    }
  }

  @Test
  void ordersRgb() throws IOException {
    Path file = folder.resolve("a.png");
    Png.write(file, 2, 1, 3, new float[] {1, 0.5f, 0, -3, 7, Float.NaN});
    BufferedImage image = ImageIO.read(file.toFile());
    assertThat(image.getRGB(0, 0)).isEqualTo(0xFFFF8000);
    assertThat(image.getRGB(1, 0)).isEqualTo(0xFF00FF00);
  }

  @Test
  void refusesSizesThatDoNotFit() {
    Path file = folder.resolve("a.png");
    assertThatThrownBy(() -> Png.write(file, 2, 2, 3, new byte[11]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Png.write(file, 2, 2, 2, new byte[8]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(file).doesNotExist();
  }
}
