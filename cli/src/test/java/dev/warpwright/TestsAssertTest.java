package dev.warpwright;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.LoadableConstantEntry;
import java.lang.classfile.constantpool.MethodHandleEntry;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A test that cannot fail is worse than none: every test method of every module reaches an
 * assertion, itself or through helpers among the tests. What is found in class files is a bound: a
 * call behind a condition counts, a call of code that is no test's does not.
 */
final class TestsAssertTest {
  private static final Set<String> TESTS =
      Set.of(
          "Lorg/junit/jupiter/api/Test;",
          "Lorg/junit/jupiter/api/RepeatedTest;",
          "Lorg/junit/jupiter/api/TestFactory;",
          "Lorg/junit/jupiter/params/ParameterizedTest;");

  /** Makes an assertion without asserting anything yet. */
  private static final Set<String> BEGINNINGS =
      Set.of(
          "assertThat",
          "assertThatCode",
          "assertThatObject",
          "as",
          "describedAs",
          "withFailMessage");

  /** A method of a class. */
  private record Method(String owner, String name, String descriptor) {}

  private static final Map<String, ClassModel> CLASSES = new HashMap<>();
  private static final Map<Method, MethodModel> METHODS = new HashMap<>();
  private static final Map<String, List<String>> BELOW = new HashMap<>();

  @BeforeAll
  static void readTests() throws IOException, URISyntaxException {
    for (Path folder : folders()) {
      try (var files = Files.walk(folder)) {
        for (Path file : (Iterable<Path>) files::iterator) {
          if (file.toString().endsWith(".class")) {
            add(ClassFile.of().parse(Files.readAllBytes(file)));
          }
        }
      }
    }
  }

  private static void add(ClassModel type) {
    String name = type.thisClass().asInternalName();
    CLASSES.put(name, type);
    for (MethodModel method : type.methods()) {
      METHODS.put(
          new Method(name, method.methodName().stringValue(), method.methodType().stringValue()),
          method);
    }
    for (String above : above(type)) {
      BELOW.computeIfAbsent(above, a -> new ArrayList<>()).add(name);
    }
  }

  /** Where the tests of all modules that are built here lie; at least this one's. */
  private static Set<Path> folders() throws IOException, URISyntaxException {
    Set<Path> folders = new TreeSet<>();
    folders.add(
        Path.of(TestsAssertTest.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
    try (var modules = Files.list(Path.of("..").toRealPath())) {
      modules
          .map(m -> m.resolve("build/test-classes"))
          .filter(Files::isDirectory)
          .forEach(folders::add);
    }
    return folders;
  }

  @Test
  void everyTestReachesAnAssertion() {
    Set<String> without = new TreeSet<>();
    int tests = 0;
    for (Map.Entry<Method, MethodModel> method : METHODS.entrySet()) {
      if (isTest(method.getValue())) {
        tests++;
        if (!reaches(method.getKey())) {
          without.add(method.getKey().owner + "." + method.getKey().name);
        }
      }
    }
    assertThat(tests).as("test methods found").isGreaterThan(100);
    assertThat(without).as("tests that assert nothing").isEmpty();
  }

  /** What this test finds, it finds by looking into methods, lambdas and helpers. */
  @Test
  void aTestWithoutAssertionIsFound() {
    String here = TestsAssertTest.class.getName().replace('.', '/');
    assertThat(reaches(new Method(here, "nothing", "()V"))).isFalse();
    assertThat(reaches(new Method(here, "begun", "()V"))).isFalse();
    assertThat(reaches(new Method(here, "inALambda", "()V"))).isTrue();
  }

  static void nothing() {
    List.of(1).forEach(i -> Math.abs(i));
  }

  @SuppressWarnings("AssertThatIsNeverCompleted")
  static void begun() {
    var _ = assertThat(1).as("one");
  }

  static void inALambda() {
    List.of(1).forEach(i -> assertThat(i).isPositive());
  }

  private static boolean isTest(MethodModel method) {
    return method.findAttribute(Attributes.runtimeVisibleAnnotations()).stream()
        .flatMap(a -> a.annotations().stream())
        .anyMatch(a -> TESTS.contains(a.className().stringValue()));
  }

  private static boolean reaches(Method start) {
    Set<Method> seen = new HashSet<>(Set.of(start));
    Deque<Method> open = new ArrayDeque<>(seen);
    while (!open.isEmpty()) {
      Method method = open.pop();
      if (isAssertion(method)) {
        return true;
      }
      for (Method called : bodies(method).stream().flatMap(m -> calls(m).stream()).toList()) {
        if (seen.add(called)) {
          open.push(called);
        }
      }
    }
    return false;
  }

  private static boolean isAssertion(Method method) {
    if (method.owner.equals("java/lang/AssertionError")
        || method.owner.equals("org/junit/jupiter/api/Assertions")) {
      return true;
    }
    return method.owner.startsWith("org/assertj/core/api/")
        && !method.name.equals("<init>")
        && !BEGINNINGS.contains(method.name);
  }

  /** The methods that a call may execute: of the class, of those above, of those below. */
  private static List<MethodModel> bodies(Method method) {
    List<MethodModel> bodies = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    Deque<String> open = new ArrayDeque<>(List.of(method.owner));
    while (!open.isEmpty()) {
      String owner = open.pop();
      ClassModel type = CLASSES.get(owner);
      if (type == null || !seen.add(owner)) {
        continue;
      }
      MethodModel body = METHODS.get(new Method(owner, method.name, method.descriptor));
      if (body != null) {
        bodies.add(body);
      } else {
        open.addAll(above(type));
      }
      open.addAll(BELOW.getOrDefault(owner, List.of()));
    }
    return bodies;
  }

  private static List<String> above(ClassModel type) {
    List<String> above = new ArrayList<>();
    type.superclass().map(ClassEntry::asInternalName).ifPresent(above::add);
    type.interfaces().forEach(i -> above.add(i.asInternalName()));
    return above;
  }

  private static List<Method> calls(MethodModel method) {
    List<Method> calls = new ArrayList<>();
    method
        .code()
        .ifPresent(
            code ->
                code.forEach(
                    element -> {
                      switch (element) {
                        case InvokeInstruction call ->
                            calls.add(
                                new Method(
                                    call.owner().asInternalName(),
                                    call.name().stringValue(),
                                    call.type().stringValue()));
                        case InvokeDynamicInstruction call -> {
                          for (LoadableConstantEntry argument :
                              call.invokedynamic().bootstrap().arguments()) {
                            if (argument instanceof MethodHandleEntry handle) {
                              calls.add(
                                  new Method(
                                      handle.reference().owner().asInternalName(),
                                      handle.reference().name().stringValue(),
                                      handle.reference().type().stringValue()));
                            }
                          }
                        }
                        case NewObjectInstruction made ->
                            calls.add(new Method(made.className().asInternalName(), "<init>", ""));
                        default -> {}
                      }
                    }));
    return calls;
  }
}
