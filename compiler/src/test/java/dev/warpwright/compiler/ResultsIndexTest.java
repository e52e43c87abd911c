package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/results/README.md} is the index of all measurements, made from them: newest first,
 * each with its date, the device that its head names, and the first command that it gives. {@code
 * -Dgoldens.update=true} writes it anew.
 */
final class ResultsIndexTest {
  private static final Path DOCS = Path.of("..", "docs").toAbsolutePath().normalize();
  private static final Pattern DEVICE =
      Pattern.compile("(?i)\\b(H100|H200|two cores|2 cores)s?\\b");
  private static final Pattern COMMAND =
      Pattern.compile("(?m)`((?:bash )?(?:bench/|warpwright )[^`]+)`|^((?:bench/|warpwright ).*)$");

  private static String row(Path file) {
    try {
      String text = Files.readString(file);
      String name = file.getFileName().toString();
      String title = text.lines().findFirst().orElseThrow().substring(2);
      title = title.replaceAll(",? \\(?20\\d\\d-\\d\\d-\\d\\d.*", "").replaceAll("[:,]$", "");
      List<String> devices =
          DEVICE
              .matcher(text)
              .results()
              .map(found -> found.group(1).toUpperCase(Locale.ROOT))
              .distinct()
              .toList();
      String where = devices.isEmpty() ? "" : devices.getFirst();
      // The head of a document with GPUs of two kinds names both.
      String head = text.lines().limit(4).collect(Collectors.joining("\n"));
      if (where.startsWith("H")) {
        where = devices.stream().filter(head::contains).collect(Collectors.joining(", "));
        where = where.isEmpty() ? devices.getFirst() : where;
      } else if (!where.isEmpty()) {
        where = "CPU";
      }
      Matcher command = COMMAND.matcher(text);
      String how = "";
      if (command.find()) {
        how = command.group(1) != null ? command.group(1) : command.group(2);
        how = how.replaceAll("\\s{2,}.*", "").replaceAll("\\s+", " ").replace("|", "\\|").strip();
      }
      return String.format(
          Locale.ROOT,
          "| %s | [%s](../benchmarks/%s) | %s | %s |",
          name.substring(0, 10),
          title,
          name,
          where,
          how.isEmpty() ? "" : "`" + how + "`");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void theIndexIsThatOfTheMeasurements() throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(DOCS.resolve("benchmarks"))) {
      files =
          all.filter(file -> file.toString().endsWith(".md"))
              .sorted(
                  Comparator.comparing(
                          (Path file) -> file.getFileName().toString().substring(0, 10))
                      .reversed()
                      .thenComparing(file -> file.getFileName().toString()))
              .toList();
    }
    assertThat(files).isNotEmpty();
    String index =
        files.stream()
            .map(ResultsIndexTest::row)
            .collect(
                Collectors.joining(
                    "\n",
                    """
                    # Measurements

                    Newest first. Each document says the device, the command, medians and their spread, losses first. Made by `ResultsIndexTest`.

                    | date | what | where | command |
                    |---|---|---|---|
                    """,
                    "\n"));
    Path file = DOCS.resolve("results/README.md");
    if (Boolean.getBoolean("goldens.update")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, index);
    }
    assertThat(Files.readString(file)).isEqualTo(index);
  }
}
