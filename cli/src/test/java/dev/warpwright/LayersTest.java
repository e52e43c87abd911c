package dev.warpwright;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.FieldRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The arrows between the modules, and rules of the house that class files can show. */
final class LayersTest {
  /**
   * Which modules each module may require. A new arrow belongs here with thought: it may not turn
   * one round, and whatever stands below cannot know who stands above.
   */
  private static final Map<String, Set<String>> ARROWS =
      Map.ofEntries(
          entry("base", Set.of()),
          entry("ir", Set.of("base")),
          entry("text", Set.of("base", "ir")),
          entry("rules", Set.of("ir", "text")),
          entry("target", Set.of("base", "ir", "text")),
          entry("workload", Set.of("base", "ir", "target")),
          entry("schedule", Set.of("base", "ir", "text")),
          entry("threads", Set.of("base", "ir", "text", "target")),
          entry("tiles", Set.of("base", "ir", "text", "target", "threads")),
          entry("lower", Set.of("base", "ir", "text", "target", "threads", "tiles")),
          entry("host", Set.of("base", "ir", "text", "target", "threads")),
          entry("perf", Set.of("base", "ir", "target", "workload")),
          entry("cuda", Set.of("base", "ir", "text", "target")),
          entry("jvm", Set.of("base", "ir", "target")),
          entry("interpreter", Set.of("base", "ir", "text", "target")),
          entry("sim", Set.of("base", "ir", "target", "interpreter")),
          entry("runtime", Set.of("base", "ir", "target", "cuda")),
          entry("space", Set.of("base", "ir", "text", "workload")),
          entry("tune", Set.of("base", "ir", "text", "space", "workload")),
          entry(
              "families",
              Set.of(
                  "base",
                  "ir",
                  "target",
                  "workload",
                  "schedule",
                  "lower",
                  "host",
                  "cuda",
                  "space")),
          entry("orders", Set.of("base", "ir", "target", "workload", "perf", "families")),
          entry(
              "measure",
              Set.of(
                  "base",
                  "ir",
                  "text",
                  "target",
                  "workload",
                  "schedule",
                  "lower",
                  "perf",
                  "orders",
                  "cuda",
                  "interpreter",
                  "sim",
                  "runtime",
                  "space",
                  "tune",
                  "families")),
          entry("graph", Set.of("base", "ir", "workload")),
          entry(
              "networks",
              Set.of(
                  "base",
                  "ir",
                  "target",
                  "workload",
                  "schedule",
                  "lower",
                  "host",
                  "perf",
                  "graph")),
          entry("arrays", Set.of("base", "ir", "graph")),
          entry("model", Set.of("base", "ir", "workload", "graph")),
          entry("synthetic", Set.of("base", "ir", "workload", "graph", "model", "sim")),
          entry(
              "fusion",
              Set.of(
                  "base",
                  "ir",
                  "target",
                  "workload",
                  "schedule",
                  "lower",
                  "host",
                  "perf",
                  "cuda",
                  "space",
                  "families",
                  "graph",
                  "networks")),
          entry(
              "compiler",
              Set.of(
                  "base",
                  "ir",
                  "target",
                  "workload",
                  "schedule",
                  "lower",
                  "host",
                  "perf",
                  "cuda",
                  "jvm",
                  "interpreter",
                  "sim",
                  "runtime",
                  "space",
                  "families",
                  "graph",
                  "networks",
                  "fusion",
                  "model")),
          entry(
              "parallel",
              Set.of(
                  "base",
                  "ir",
                  "text",
                  "rules",
                  "target",
                  "workload",
                  "perf",
                  "cuda",
                  "interpreter",
                  "sim",
                  "runtime",
                  "families",
                  "graph",
                  "networks",
                  "fusion",
                  "compiler")),
          entry(
              "verify",
              Set.of(
                  "base",
                  "ir",
                  "text",
                  "rules",
                  "target",
                  "workload",
                  "perf",
                  "cuda",
                  "interpreter",
                  "sim",
                  "runtime",
                  "families",
                  "measure",
                  "synthetic",
                  "graph",
                  "model",
                  "fusion",
                  "compiler",
                  "parallel")),
          entry(
              "export",
              Set.of(
                  "base",
                  "ir",
                  "target",
                  "workload",
                  "schedule",
                  "cuda",
                  "synthetic",
                  "graph",
                  "model",
                  "fusion",
                  "compiler")),
          entry(
              "examples",
              Set.of(
                  "base",
                  "ir",
                  "text",
                  "target",
                  "workload",
                  "schedule",
                  "lower",
                  "perf",
                  "cuda",
                  "interpreter",
                  "sim",
                  "runtime",
                  "families",
                  "measure",
                  "model",
                  "fusion",
                  "compiler",
                  "verify")),
          entry(
              "profiler",
              Set.of(
                  "base",
                  "ir",
                  "text",
                  "rules",
                  "target",
                  "workload",
                  "perf",
                  "orders",
                  "cuda",
                  "jvm",
                  "interpreter",
                  "sim",
                  "runtime",
                  "space",
                  "tune",
                  "families",
                  "measure",
                  "graph",
                  "model",
                  "synthetic",
                  "fusion",
                  "compiler",
                  "parallel",
                  "verify",
                  "examples")),
          entry(
              "explorer",
              Set.of(
                  "base",
                  "ir",
                  "text",
                  "target",
                  "workload",
                  "schedule",
                  "perf",
                  "orders",
                  "cuda",
                  "interpreter",
                  "sim",
                  "runtime",
                  "space",
                  "families",
                  "measure",
                  "fusion",
                  "compiler",
                  "profiler")),
          entry(
              "cli",
              Set.of(
                  "base",
                  "ir",
                  "text",
                  "target",
                  "workload",
                  "schedule",
                  "perf",
                  "orders",
                  "cuda",
                  "interpreter",
                  "sim",
                  "runtime",
                  "space",
                  "tune",
                  "families",
                  "measure",
                  "synthetic",
                  "graph",
                  "networks",
                  "arrays",
                  "model",
                  "fusion",
                  "compiler",
                  "parallel",
                  "export",
                  "examples",
                  "explorer",
                  "profiler")));

  /** Our modules by their short name, each with all its class files, module-info too. */
  private static Map<String, List<ClassModel>> modules;

  @BeforeAll
  static void readModules() throws IOException {
    modules = OurModules.read();
  }

  @Test
  void everyModuleHasItsArrows() {
    assertThat(modules.keySet()).isEqualTo(ARROWS.keySet());
  }

  @Test
  void arrowsPointOneWay() {
    modules.forEach(
        (module, classes) ->
            assertThat(requires(classes))
                .as("what %s requires", module)
                .isSubsetOf(ARROWS.get(module)));
  }

  @Test
  void theTableHasNoCycle() {
    var done = new TreeSet<String>();
    while (done.size() < ARROWS.size()) {
      var next =
          ARROWS.keySet().stream()
              .filter(m -> !done.contains(m) && done.containsAll(ARROWS.get(m)))
              .toList();
      assertThat(next).as("what can stand on %s", done).isNotEmpty();
      done.addAll(next);
    }
  }

  /** Packages may use each other, but never in a circle, in whatever module they are. */
  @Test
  void packagesHaveNoCycle() {
    var uses = new TreeMap<String, Set<String>>();
    for (ClassModel file : modules.values().stream().flatMap(List::stream).toList()) {
      if (file.thisClass().asInternalName().equals("module-info")) {
        continue;
      }
      Set<String> used =
          uses.computeIfAbsent(
              OurModules.packageOf(file.thisClass().asInternalName()), p -> new TreeSet<>());
      used.addAll(OurModules.packagesIn(file));
    }
    uses.forEach(
        (name, used) -> {
          used.remove(name);
          used.retainAll(uses.keySet());
        });
    var done = new TreeSet<String>();
    while (done.size() < uses.size()) {
      var next =
          uses.keySet().stream()
              .filter(p -> !done.contains(p) && done.containsAll(uses.get(p)))
              .toList();
      if (next.isEmpty()) {
        uses.keySet().removeAll(done);
        uses.values().forEach(used -> used.removeAll(done));
        assertThat(uses).as("packages in circles, or on top of them, and what they use").isEmpty();
      }
      done.addAll(next);
    }
  }

  /** A reader who meets a name knows what is meant, in whatever module. */
  @Test
  void publicClassesHaveNamesOfTheirOwn() {
    var names = new TreeMap<String, Set<String>>();
    for (ClassModel file : modules.values().stream().flatMap(List::stream).toList()) {
      String name = file.thisClass().asInternalName();
      if (file.flags().has(AccessFlag.PUBLIC) && !name.contains("$")) {
        names
            .computeIfAbsent(name.substring(name.lastIndexOf('/') + 1), n -> new TreeSet<>())
            .add(name);
      }
    }
    names.values().removeIf(classes -> classes.size() == 1);
    assertThat(names).isEmpty();
  }

  @Test
  void onlyTheCudaPrinterWritesCuda() {
    assertThat(
            classesWith(
                module -> !module.equals("cuda"),
                e -> e instanceof Utf8Entry text && text.stringValue().contains("__global__")))
        .isEmpty();
  }

  /** {@code Schedule.show} is for people at a jshell: printing is what it is for. */
  @Test
  void onlyTheCommandLineAndShowWriteToStandardOutput() {
    assertThat(
            classesWith(
                module -> !Set.of("cli", "profiler").contains(module),
                e ->
                    e instanceof FieldRefEntry field
                        && field.owner().asInternalName().equals("java/lang/System")
                        && field.name().equalsString("out")))
        .containsExactly("dev/warpwright/schedule/Session");
  }

  /**
   * A module is null-marked as a whole; packages that everybody sees say it themselves, too, for
   * who has them on a class path.
   */
  @Test
  void everyModuleIsNullMarked() {
    modules.forEach(
        (module, files) -> {
          var marked = new TreeSet<String>();
          var api = new TreeSet<String>();
          boolean whole = false;
          for (ClassModel file : files) {
            String name = file.thisClass().asInternalName();
            boolean says =
                file.findAttribute(Attributes.runtimeVisibleAnnotations())
                    .filter(
                        a ->
                            a.annotations()
                                .toString()
                                .contains("org/jspecify/annotations/NullMarked"))
                    .isPresent();
            whole |= says && name.equals("module-info");
            if (says && name.endsWith("/package-info")) {
              marked.add(OurModules.packageOf(name));
            }
            file.findAttribute(Attributes.module()).stream()
                .flatMap(info -> info.exports().stream())
                .filter(export -> export.exportsTo().isEmpty())
                .forEach(export -> api.add(export.exportedPackage().name().stringValue()));
          }
          assertThat(whole).as(module).isTrue();
          assertThat(marked).as(module).isEqualTo(api);
        });
  }

  /**
   * A provider of SLF4J decides where an application's logs go. The compiler and what it stands on
   * are libraries: they bring none; the command line may.
   */
  @Test
  void onlyTheCommandLineBringsALogger() throws IOException {
    var bring = new TreeSet<String>();
    for (String module : ARROWS.keySet()) {
      String pom = Files.readString(Path.of("..", module, "pom.xml"));
      if (pom.contains("slf4j") || pom.contains("logback") || pom.contains("log4j")) {
        bring.add(module);
      }
    }
    assertThat(bring).containsExactly("cli");
    String root = Files.readString(Path.of("..", "pom.xml"));
    assertThat(root.substring(root.indexOf("</dependencyManagement>")))
        .as("what every module depends on")
        .doesNotContain("slf4j");
  }

  /** The documented build makes no jars of tests, so no module may ask for one there. */
  @Test
  void aBuildWithoutTestsNeedsNoJarOfTests() throws IOException {
    var asks = new TreeSet<String>();
    for (String module : ARROWS.keySet()) {
      String pom = Files.readString(Path.of("..", module, "pom.xml"));
      int tests = pom.indexOf("<name>!maven.test.skip</name>");
      int first = pom.indexOf("<type>test-jar</type>");
      if (first >= 0 && (tests < 0 || first < tests)) {
        asks.add(module);
      }
    }
    assertThat(asks).isEmpty();
  }

  private static Set<String> requires(List<ClassModel> classes) {
    return classes.stream()
        .flatMap(c -> c.findAttribute(Attributes.module()).stream())
        .flatMap(m -> m.requires().stream())
        .map(r -> r.requires().name().stringValue())
        .filter(name -> name.startsWith(OurModules.PREFIX))
        .map(name -> name.substring(OurModules.PREFIX.length()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The classes of the modules that have such an entry in their constant pool. */
  private static List<String> classesWith(Predicate<String> among, Predicate<PoolEntry> condition) {
    return modules.entrySet().stream()
        .filter(m -> among.test(m.getKey()))
        .flatMap(m -> m.getValue().stream())
        .filter(
            c -> StreamSupport.stream(c.constantPool().spliterator(), false).anyMatch(condition))
        .map(c -> c.thisClass().asInternalName())
        .toList();
  }
}
