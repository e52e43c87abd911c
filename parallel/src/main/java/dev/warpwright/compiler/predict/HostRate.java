package dev.warpwright.compiler.predict;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;

/**
 * What the processors here can compute in f32: lanes of their widest vectors, two fused
 * multiply-adds a clock, at the clock that the system states. A processor that exceeds its stated
 * clock may be faster.
 */
public final class HostRate {
  private static final Path FACTS = Path.of("/proc/cpuinfo");

  /** Two units, a multiply-add counting as two. */
  private static final int OPERATIONS = 4;

  private HostRate() {}

  /** Operations a second of so many threads; empty where the system does not tell. */
  public static OptionalDouble flops(int threads) {
    try {
      return flops(Files.readAllLines(FACTS), threads);
    } catch (IOException e) {
      return OptionalDouble.empty();
    }
  }

  /** The same from the system's text. */
  public static OptionalDouble flops(List<String> facts, int threads) {
    OptionalDouble mhz =
        facts.stream()
            .filter(line -> line.startsWith("cpu MHz"))
            .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(':') + 1)))
            .max();
    return mhz.isEmpty()
        ? mhz
        : OptionalDouble.of(mhz.getAsDouble() * 1e6 * lanes(facts) * OPERATIONS * threads);
  }

  private static int lanes(List<String> facts) {
    String flags =
        facts.stream().filter(line -> line.startsWith("flags")).findFirst().orElse("") + " ";
    return flags.contains(" avx512f ") ? 16 : flags.contains(" avx2 ") ? 8 : 4;
  }
}
