package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every primitive has its own file, says what it does as before → after and what it requires in a
 * numbered list, and each number is asserted by a test, by means of {@link
 * dev.warpwright.schedule.Refusal}.
 */
final class RequirementsTest {
  private static final Path PRIMITIVES = Path.of("src/main/java/dev/warpwright/schedule/primitive");

  /** What primitives check, but no program that gets that far is known to fail. */
  private static final Set<String> NOT_REACHED = Set.of("blockize 5", "tensorize 7");

  private static final List<String> NAMES =
      List.of(
          "annotate bind blockOrder blockize cacheRead cacheWrite cluster compact computeAt",
          "computeInline decomposeReduction fuse mergeGrids multicast pad parallel persistent",
          "pipeline reorder reverseComputeAt reverseComputeInline rfactor roles sampleCategorical",
          "samplePerfectTile setLayout setScope split splitK squeeze storageAlign streamK",
          "tensorize transformLayout unroll vectorize");

  private static Set<String> names() {
    return new TreeSet<>(List.of(String.join(" ", NAMES).split(" ")));
  }

  /** The documentation of a primitive's class. */
  private static String documentation(String name) throws IOException {
    String file = Character.toUpperCase(name.charAt(0)) + name.substring(1) + ".java";
    String source = Files.readString(PRIMITIVES.resolve(file));
    return source.substring(source.indexOf("/**"), source.indexOf("public final class"));
  }

  @Test
  void eachSaysBeforeAndAfter() throws IOException {
    for (String name : names()) {
      boolean chooses = name.startsWith("sample");
      assertThat(documentation(name)).as(name).contains(chooses ? "Requires:" : "→", "<li>");
    }
  }

  @Test
  void eachRequirementHasATest() throws IOException {
    Set<String> tested = tested();
    Set<String> untested = new TreeSet<>();
    for (String name : names()) {
      String text = documentation(name);
      long requirements =
          Pattern.compile("<li>")
              .matcher(text.substring(text.indexOf("Requires:")))
              .results()
              .count();
      for (int n = 1; n <= requirements; n++) {
        if (!tested.contains(name + " " + n)) {
          untested.add(name + " " + n);
        }
      }
    }
    assertThat(untested).containsExactlyInAnyOrderElementsOf(NOT_REACHED);
  }

  /** Names and numbers of all refusals that tests assert. */
  private static Set<String> tested() throws IOException {
    Set<String> tested = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
        String source = Files.readString(file);
        Map<String, String> constants = new HashMap<>();
        Matcher constant = Pattern.compile("String (\\w+) = (\"\\w+\")").matcher(source);
        while (constant.find()) {
          constants.put(constant.group(1), constant.group(2));
        }
        Matcher refusal =
            Pattern.compile("Refusal\\s*\\.of\\(\\s*\\w+,\\s*(\"?\\w+\"?),\\s*(\\d+)")
                .matcher(source);
        while (refusal.find()) {
          String name = constants.getOrDefault(refusal.group(1), refusal.group(1));
          tested.add(name.replace("\"", "") + " " + refusal.group(2));
        }
      }
    }
    return tested;
  }
}
