package dev.warpwright.model.weights;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.base.UserError;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Readers of bytes that may be anything: they give weights, or refuse with one clear line. */
final class Refusal {
  private Refusal() {}

  /** Reads; returns the weights, or null if they were refused cleanly. */
  static @Nullable Weights readOrRefuse(
      BiFunction<String, MemorySegment, Weights> reader, byte[] bytes) {
    try {
      Weights weights = reader.apply("w", MemorySegment.ofArray(bytes));
      for (String name : weights.names()) {
        if (weights.isUsable(name)) {
          weights.tensor(name).toFloats();
        }
      }
      return weights;
    } catch (UserError e) {
      assertThat(e.getMessage()).startsWith("w: ");
      assertThat(e.getMessage().lines().count()).as(e.getMessage()).isEqualTo(1);
      return null;
    }
  }

  /** Bytes with a few random changes in the first {@code length}. */
  static byte[] mutate(byte[] bytes, int from, int length, SplittableRandom random) {
    byte[] out = bytes.clone();
    int changes = random.nextInt(1, 4);
    for (int i = 0; i < changes; i++) {
      int at = from + random.nextInt(length);
      switch (random.nextInt(4)) {
        case 0 -> out[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> out[at] = (byte) random.nextInt(256);
        case 2 -> out[at] = (byte) 0xFF;
        default -> {
          int to = from + random.nextInt(length);
          int count = random.nextInt(Math.min(20, from + length - Math.max(at, to)) + 1);
          System.arraycopy(bytes, at, out, to, count);
        }
      }
    }
    return out;
  }
}
