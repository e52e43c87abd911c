package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No figure of the README, or of the status page, without its source. Each row of its tables links the documents that its
 * figures come from, and each number of the row's last cell stands in one of them, or is what a
 * number there rounds to. Sentences that must be the same in both stand in the document behind its
 * table, as {@code <!-- README: the sentence -->}, and the status page repeats them to the letter.
 */
final class ReadmeFiguresTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]+)(?:#[^)]*)?\\)");
  private static final Pattern MARKER = Pattern.compile("<!-- README: (.*?) -->", Pattern.DOTALL);

  /** Not part of a name, such as bf16, sm_90a or 4096³'s power. */
  private static final Pattern NUMBER =
      Pattern.compile("(?<![\\w.])\\d+(?:\\.\\d+)?(?![A-Za-z_\\d])");

  private static final List<String> WORDS =
      List.of(
          "zero",
          "one",
          "two",
          "three",
          "four",
          "five",
          "six",
          "seven",
          "eight",
          "nine",
          "ten",
          "eleven",
          "twelve",
          "thirteen",
          "fourteen",
          "fifteen");

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<BigDecimal> numbers(String text) {
    List<BigDecimal> numbers = new ArrayList<>();
    Matcher matcher = NUMBER.matcher(text);
    while (matcher.find()) {
      numbers.add(new BigDecimal(matcher.group()));
    }
    return numbers;
  }

  /** The numbers of a document, words for small ones too. */
  private static List<BigDecimal> sources(String document) {
    List<BigDecimal> numbers = numbers(MARKER.matcher(document).replaceAll(""));
    for (int i = 0; i < WORDS.size(); i++) {
      if (Pattern.compile("(?i)\\b" + WORDS.get(i) + "\\b").matcher(document).find()) {
        numbers.add(BigDecimal.valueOf(i));
      }
    }
    return numbers;
  }

  private static boolean isFrom(BigDecimal figure, List<BigDecimal> sources) {
    // Half of the last digit that is told.
    BigDecimal rounding = BigDecimal.ONE.movePointLeft(figure.scale()).divide(BigDecimal.TWO);
    return sources.stream()
        .anyMatch(
            source ->
                source.compareTo(figure) == 0
                    || (source.scale() > figure.scale()
                        && figure.scale() > 0
                        && source.subtract(figure).abs().compareTo(rounding) <= 0));
  }

  /** The documents that a row links, those that are there. */
  private static List<Path> documents(Path root, String row) {
    List<Path> documents = new ArrayList<>();
    Matcher link = LINK.matcher(row);
    while (link.find()) {
      Path file = root.resolve(link.group(1));
      if (!link.group(1).contains("://") && link.group(1).endsWith(".md")) {
        documents.add(file);
      }
    }
    return documents;
  }

  /** What is wrong with the figures of a text's tables. */
  private static List<String> problems(Path root, String readme) {
    List<String> problems = new ArrayList<>();
    List<String> rows = readme.lines().filter(line -> line.startsWith("|")).toList();
    for (String row : rows) {
      String[] cells = row.substring(1).split(" \\| ", -1);
      String last = cells[cells.length - 1];
      String figures = LINK.matcher(last).replaceAll("]").replaceAll("`[^`]*`", "");
      List<BigDecimal> sources = new ArrayList<>();
      for (Path document : documents(root, row)) {
        if (Files.isRegularFile(document)) {
          sources.addAll(sources(read(document)));
        } else {
          problems.add("no such document: " + document);
        }
      }
      for (BigDecimal figure : numbers(figures)) {
        if (!isFrom(figure, sources)) {
          problems.add(
              String.format(
                  Locale.ROOT,
                  "%s is in none of the documents that its row links: %s",
                  figure.toPlainString(),
                  row.substring(0, Math.min(80, row.length()))));
        }
      }
    }
    return problems;
  }

  @ParameterizedTest
  @ValueSource(strings = {"README.md", "docs/status.md"})
  void eachFigureOfATableStandsInADocumentThatItsRowLinks(String name) {
    Path file = ROOT.resolve(name);
    String text = read(file);
    assertThat(text.lines().filter(line -> line.startsWith("|")).count()).isGreaterThan(5);
    assertThat(problems(Objects.requireNonNull(file.getParent()), text)).isEmpty();
  }

  @Test
  void noLineOfTheReadmeIsTooLongToRead() {
    assertThat(read(ROOT.resolve("README.md")).lines().filter(line -> line.length() > 200))
        .isEmpty();
  }

  @Test
  void sentencesThatDocumentsGiveAreRepeatedToTheLetter() throws IOException {
    Map<String, Path> sentences = new TreeMap<>();
    try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".md")).toList()) {
        String document = read(file);
        Matcher marker = MARKER.matcher(document);
        while (marker.find()) {
          String sentence = marker.group(1).replaceAll("\\s+", " ");
          sentences.put(sentence, file);
          // The marker stands beside what it says.
          List<BigDecimal> sources = sources(document);
          assertThat(numbers(sentence))
              .as("%s: %s", file, sentence)
              .isNotEmpty()
              .allMatch(number -> isFrom(number, sources));
        }
      }
    }
    assertThat(sentences).isNotEmpty();
    Path docs = ROOT.resolve("docs");
    List<String> rows =
        read(docs.resolve("status.md")).lines().filter(line -> line.startsWith("|")).toList();
    sentences.forEach(
        (sentence, file) ->
            assertThat(rows)
                .as("a row that links %s and says: %s", file, sentence)
                .anyMatch(
                    row ->
                        row.contains(sentence)
                            && documents(docs, row).stream()
                                .anyMatch(document -> document.normalize().equals(file))));
  }

  /** The check itself. */
  @ParameterizedTest
  @CsvSource({
    "1.15 [x](DOC), true",
    "1.154 [x](DOC), true",
    "1.16 [x](DOC), false",
    "26 products [x](DOC), true",
    "27 products [x](DOC), false",
    "thirteen or 13 [x](DOC), true",
    "1.154, false",
    "bf16 of sm_90a [x](DOC), true",
    "1.154 [x](docs/none.md), false"
  })
  void figuresAreHeldAgainstTheirSource(String cell, boolean good) {
    Path root = ROOT.resolve("compiler/src/test/resources/readme");
    String row = "| what | works | " + cell.replace("DOC", "figures.md") + " |";
    assertThat(problems(root, row).isEmpty()).isEqualTo(good);
  }
}
