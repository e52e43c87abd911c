package dev.warpwright.ir.attribute;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class AttributeTest {
  @Test
  void theDocumentationHasTheTable() throws IOException {
    String table =
        Arrays.stream(Attribute.values()).map(Attribute::row).collect(Collectors.joining("\n"));
    assertThat(Files.readString(Path.of("../docs/text-form.md"))).contains("\n" + table + "\n");
  }

  /** What the code writes and reads is what the table has. */
  @Test
  void theCodeKnowsNoOthers() throws IOException {
    Pattern use =
        Pattern.compile(
            "(?:attrs(?:\\(\\))?|Attrs\\.NONE)\\s*\\.(?:getLong|getString|has|with|without)"
                + "\\(\"(\\w+)\"[,)]"
                + "|\\bannotate\\((?:[^;\"]*, )?\"(\\w+)\",");
    Set<String> used = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Path.of(".."))) {
      for (Path file : (Iterable<Path>) files::iterator) {
        if (file.toString().matches(".*/src/main/java/.*\\.java")) {
          Matcher uses = use.matcher(Files.readString(file));
          while (uses.find()) {
            used.add(uses.group(1) == null ? uses.group(2) : uses.group(1));
          }
        }
      }
    }
    assertThat(used).contains("threads", "minBlocks", "division").hasSizeGreaterThan(30);
    assertThat(Arrays.stream(Attribute.values()).map(Attribute::key)).containsAll(used);
  }

  @Test
  void keysAreInOrder() {
    assertThat(Arrays.stream(Attribute.values()).map(Attribute::key))
        .isSortedAccordingTo(String.CASE_INSENSITIVE_ORDER)
        .doesNotHaveDuplicates();
  }
}
