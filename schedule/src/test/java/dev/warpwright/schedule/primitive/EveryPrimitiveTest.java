package dev.warpwright.schedule.primitive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.schedule.Outcome;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.primitive.PrimitiveCases.Case;
import dev.warpwright.schedule.trace.Instruction;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * All primitives there are, found by reflection: each is a method of {@link Schedule}, and has a
 * case whose program before and after is kept in a file; after it, the trace replays to the same
 * program, and the program has the same results. What each one refuses is the matter of {@link
 * RequirementsTest}. {@code -Dgoldens.update=true} rewrites the files.
 */
final class EveryPrimitiveTest {
  private static final Path GOLDENS =
      Path.of("src/test/resources/dev/warpwright/schedule/primitive");
  private static final Path SOURCES = Path.of("src/main/java/dev/warpwright/schedule/primitive");
  private static final Path REPLAY = Path.of("src/main/java/dev/warpwright/schedule/Replay.java");
  private static final String PACKAGE = "dev.warpwright.schedule.primitive.";
  private static final String BEFORE = "=== before ===\n";
  private static final String AFTER = "=== after ===\n";

  /** What the design promises. */
  private static final String PROMISED =
      """
      split fuse reorder bind parallel vectorize unroll annotate
      cacheRead cacheWrite setScope storageAlign transformLayout pad
      computeAt reverseComputeAt computeInline reverseComputeInline
      decomposeReduction rfactor splitK streamK
      blockize tensorize
      pipeline roles multicast cluster
      blockOrder persistent mergeGrids
      samplePerfectTile sampleCategorical
      """;

  /**
   * The classes of all primitives, the public ones of the package, but the form they start from, by
   * the primitives' names: that of the class in lower camel case, where the class does not say
   * another.
   */
  static Map<String, String> classes() throws IOException, ClassNotFoundException {
    Map<String, String> classes = new TreeMap<>();
    try (Stream<Path> files = Files.list(SOURCES)) {
      for (Path file : files.toList()) {
        String simple = file.getFileName().toString().replace(".java", "");
        if (simple.equals("package-info")) {
          continue;
        }
        Class<?> type = Class.forName(PACKAGE + simple);
        if (Modifier.isPublic(type.getModifiers()) && type != NormalForm.class) {
          Matcher name =
              Pattern.compile("String NAME = \"(\\w+)\"").matcher(Files.readString(file));
          String usual = Character.toLowerCase(simple.charAt(0)) + simple.substring(1);
          classes.put(name.find() ? name.group(1) : usual, simple);
        }
      }
    }
    return classes;
  }

  static Set<String> names() throws IOException, ClassNotFoundException {
    return classes().keySet();
  }

  @Test
  void eachIsPromisedOrMore() throws IOException, ClassNotFoundException {
    assertThat(names()).contains(PROMISED.strip().split("\\s+"));
  }

  @Test
  void eachIsAMethodOfSchedule() throws IOException, ClassNotFoundException {
    Set<String> methods =
        Stream.of(Schedule.class.getMethods()).map(Method::getName).collect(Collectors.toSet());
    assertThat(methods).containsAll(names());
  }

  @Test
  void eachHasACase() throws IOException, ClassNotFoundException {
    assertThat(PrimitiveCases.all().keySet()).containsAll(names());
  }

  /**
   * What a trace may say, {@code Replay} has to know: each step of it is in the trace of a case.
   */
  @Test
  void eachStepOfATraceHasACase() throws IOException {
    Set<String> known = new TreeSet<>();
    Matcher step = Pattern.compile("(?m)^ +case \"(\\w+)\" ->").matcher(Files.readString(REPLAY));
    while (step.find()) {
      known.add(step.group(1));
    }
    Set<String> taken = new TreeSet<>();
    for (Case example : PrimitiveCases.all().values()) {
      Schedule s = new Schedule(example.func());
      example.steps().apply(s).run();
      s.trace().instructions().forEach(instruction -> taken.add(instruction.op()));
    }
    assertThat(known).hasSizeGreaterThan(30).isSubsetOf(taken);
    assertThat(taken).isSubsetOf(known);
  }

  @TestFactory
  List<DynamicTest> doesWhatItsFileSays() {
    return PrimitiveCases.all().entrySet().stream()
        .map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> compare(entry)))
        .toList();
  }

  private static void compare(Map.Entry<String, Case> entry) throws IOException {
    String name = entry.getKey();
    Case example = entry.getValue();
    Schedule s = new Schedule(example.func());
    Runnable primitive = example.steps().apply(s);
    String before = IrPrinter.text(s.func());
    int prepared = s.trace().instructions().size();
    primitive.run();

    List<String> steps =
        s.trace().instructions().stream().skip(prepared).map(Instruction::op).toList();
    assertThat(steps).anySatisfy(op -> assertThat(op).startsWith(name));
    String after = IrPrinter.text(s.func());
    assertThat(after).isNotEqualTo(before);

    Path file = GOLDENS.resolve(name + ".txt");
    if (Boolean.getBoolean("goldens.update")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, BEFORE + before.strip() + "\n\n" + AFTER + after.strip() + "\n");
    }
    assertThat(file).exists();
    String kept = Files.readString(file);
    int middle = kept.indexOf(AFTER);
    assertThat(kept.substring(BEFORE.length(), middle).strip()).isEqualTo(before.strip());
    Outcome.is(example.func(), s, kept.substring(middle + AFTER.length()));
  }
}
