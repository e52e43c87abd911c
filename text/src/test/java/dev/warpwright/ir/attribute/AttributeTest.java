package dev.warpwright.ir.attribute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.verify.Problem;
import dev.warpwright.ir.verify.Rule;
import dev.warpwright.ir.verify.Verifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AttributeTest {
  private static final String PROGRAM =
      """
      primfunc f(A: f32[4]) [%s] {
        for i in 4 [%s] {
          A[i] = 1.0f32
        }
      }
      """;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "threads = 64 | stages = 2 |",
        "thread = 64 | stages = 2 | there is no attribute 'thread'; 'threads' is meant?",
        "Threads = 64 | stages = 2 | there is no attribute 'Threads'; 'threads' is meant?",
        "minblocks = 2 | stages = 2 | there is no attribute 'minblocks'; 'minBlocks' is meant?",
        "colour = 64 | stages = 2 | there is no attribute 'colour'",
        "threads = \"64\" | stages = 2 | attribute 'threads' is a whole number, not a string",
        "arch = 90 | stages = 2 | attribute 'arch' is a string, not a number",
        "threads = 64 | threads = 64 | attribute 'threads' stands at a function, not at a loop",
        "stages = 3 | stages = 3 | attribute 'stages' stands at a loop, not at a function",
      })
  void theVerifierKnowsThem(String function, String loop, String problem) {
    PrimFunc func =
        new IrParser().primFunc("f", String.format(Locale.ROOT, PROGRAM, function, loop));
    List<Problem> found =
        Verifier.verify(func).stream().filter(p -> p.rule() == Rule.ATTRIBUTES).toList();
    if (problem == null) {
      assertThat(found).isEmpty();
    } else {
      assertThat(found).singleElement().extracting(Problem::message).isEqualTo(problem);
    }
  }

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
