package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
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

  /** The documentation of a primitive's class. */
  private static String documentation(String name) throws IOException, ClassNotFoundException {
    String file =
        EveryPrimitiveTest.classes()
                .getOrDefault(name, Character.toUpperCase(name.charAt(0)) + name.substring(1))
            + ".java";
    String source = Files.readString(PRIMITIVES.resolve(file));
    return source.substring(source.indexOf("/**"), source.indexOf("public final class"));
  }

  @Test
  void eachSaysBeforeAndAfter() throws IOException, ClassNotFoundException {
    for (String name : EveryPrimitiveTest.names()) {
      boolean chooses = name.startsWith("sample");
      assertThat(documentation(name)).as(name).contains(chooses ? "Requires:" : "→", "<li>");
    }
  }

  @Test
  void eachRequirementHasATest() throws IOException, ClassNotFoundException {
    Set<String> required = new TreeSet<>();
    for (String name : EveryPrimitiveTest.names()) {
      required.addAll(requirements(name, name));
    }
    // The form that they start from says what it requires in the same way.
    required.addAll(requirements("normalForm", "schedule"));
    Set<String> tested = tested();
    // Of names that are looked up, of blocks, buffers and loops.
    tested.removeIf(each -> each.matches("(block|buffer|loops) 1"));
    assertThat(tested).isEqualTo(required);
  }

  private static Set<String> requirements(String name, String asReported)
      throws IOException, ClassNotFoundException {
    String text = documentation(name);
    long count =
        Pattern.compile("<li>")
            .matcher(text.substring(text.indexOf("Requires:")))
            .results()
            .count();
    assertThat(count).as(name).isPositive();
    Set<String> requirements = new TreeSet<>();
    for (int n = 1; n <= count; n++) {
      requirements.add(asReported + " " + n);
    }
    return requirements;
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
        Matcher start = Pattern.compile("refuses\\(\\s*(\\d+)").matcher(source);
        while (start.find()) {
          tested.add("schedule " + start.group(1));
        }
      }
    }
    return tested;
  }
}
