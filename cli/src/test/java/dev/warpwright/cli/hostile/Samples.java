package dev.warpwright.cli.hostile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** The good files of this repository that hostile ones are made out of. */
final class Samples {
  private static final long LARGEST = 300_000;
  private static final Path ROOT = root();
  private static final Map<String, List<Path>> FILES = new ConcurrentHashMap<>();

  private Samples() {}

  private static Path root() {
    String given = System.getProperty("warpwright.hostile.root");
    return given == null ? Path.of("").toAbsolutePath().getParent() : Path.of(given);
  }

  /** One of the models in a format, as {@code onnx}. */
  static Path model(Random random, String ending) {
    return Odd.of(random, files("models", "." + ending));
  }

  static byte[] bytes(Path file) throws IOException {
    return Files.readAllBytes(file);
  }

  /** One of the kernels in text, or of the inputs of the parser's fuzzer. */
  static String kernel(Random random) throws IOException {
    boolean shipped = random.nextInt(3) > 0;
    List<Path> files =
        shipped ? files("kernels", ".kernel") : files("model/src/test/resources/fuzz/kernel", "");
    // Some of the fuzzer's are no text.
    return new String(Files.readAllBytes(Odd.of(random, files)), StandardCharsets.UTF_8);
  }

  private static List<Path> files(String folder, String ending) {
    return FILES.computeIfAbsent(
        folder + ending,
        key -> {
          try (Stream<Path> all = Files.walk(ROOT.resolve(folder))) {
            return all.filter(f -> f.toString().endsWith(ending))
                .filter(f -> Files.isRegularFile(f) && f.toFile().length() < LARGEST)
                .sorted()
                .toList();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }
}
