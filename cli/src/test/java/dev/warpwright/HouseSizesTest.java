package dev.warpwright;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Rooms of a size that a reader can take in: what is larger is asking to be two. */
final class HouseSizesTest {
  private static final int MOST_FILES = 30;
  private static final int MOST_LINES = 12_000;
  private static final int MOST_LINES_OF_A_FILE = 500;

  /** One file a primitive is what that package is for. */
  private static final Set<String> LARGE_PACKAGES = Set.of("dev.warpwright.schedule.primitive");

  private static final Pattern MODULE = Pattern.compile("<module>(\\w+)</module>");

  @Test
  void noPackageHasMoreFilesThanAReaderTakesIn() throws IOException {
    var files = new TreeMap<String, Integer>();
    for (String module : modules()) {
      Path sources = Path.of("..", module, "src", "main", "java");
      for (Path file : javaFiles(sources)) {
        if (!file.getFileName().toString().matches("(package|module)-info\\.java")) {
          String name = sources.relativize(file.getParent()).toString().replace('/', '.');
          files.merge(name, 1, Integer::sum);
        }
      }
    }
    assertThat(files).hasSizeGreaterThan(100).containsKeys(LARGE_PACKAGES.toArray(String[]::new));
    files.keySet().removeAll(LARGE_PACKAGES);
    assertThat(over(files, MOST_FILES)).as("files of packages").isEmpty();
  }

  @Test
  void noModuleHasMoreLinesThanAReaderTakesIn() throws IOException {
    var lines = new TreeMap<String, Integer>();
    for (String module : modules()) {
      int sum = 0;
      for (Path file : javaFiles(Path.of("..", module, "src", "main", "java"))) {
        sum += Files.readAllLines(file).size();
      }
      lines.put(module, sum);
    }
    assertThat(lines).hasSizeGreaterThan(20);
    assertThat(over(lines, MOST_LINES)).as("lines of modules").isEmpty();
    assertThat(lines.get("compiler")).as("lines of what applications call").isLessThan(6000);
  }

  @Test
  void noFileHasMoreLinesThanAReaderTakesIn() throws IOException {
    var lines = new TreeMap<String, Integer>();
    for (String module : modules()) {
      for (Path file : javaFiles(Path.of("..", module, "src", "main", "java"))) {
        lines.put(file.toString(), Files.readAllLines(file).size());
      }
    }
    assertThat(lines).hasSizeGreaterThan(1000);
    assertThat(over(lines, MOST_LINES_OF_A_FILE)).as("lines of files").isEmpty();
  }

  private static Map<String, Integer> over(Map<String, Integer> sizes, int most) {
    var over = new TreeMap<>(sizes);
    over.values().removeIf(size -> size <= most);
    return over;
  }

  private static List<String> modules() throws IOException {
    String pom = Files.readString(Path.of("..", "pom.xml"));
    List<String> modules =
        MODULE
            .matcher(pom)
            .results()
            .map(m -> m.group(1))
            // The BOM is a list of versions, and the page's tests have nothing that they test.
            .filter(module -> !module.equals("bom") && !module.equals("pages"))
            .toList();
    assertThat(modules).contains("ir", "cli");
    return modules;
  }

  private static List<Path> javaFiles(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList();
    }
  }
}
