package dev.warpwright;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.classfile.Annotation;
import java.lang.classfile.AnnotationValue;
import java.lang.classfile.AttributedElement;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.StringEntry;
import java.lang.reflect.AccessFlag;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The field's words: a reader who knows CUTLASS, Triton and TVM has no word of ours to learn from
 * help, messages, reports, documents or the names of public classes. Decision records and
 * benchmarks are dated and stay as they were.
 */
final class WordsTest {
  /** What we wrote, and what the field says. */
  private static final Map<Pattern, String> WORDS =
      Map.ofEntries(
          word("(?<!matrix |sum of |sums of )products?", "GEMM, mma or wgmma"),
          word("bulk cop(y|ies)", "TMA copy"),
          word("multiprocessors?", "SM"),
          word("(first|second)-level cache", "L1, L2"),
          word("f16 sums|sums in (f16|bf16|f32|tf32)", "accumulators in f16"),
          word("(along|across) K", "K-major, MN-major; of K"),
          word("pitch(es)?", "leading dimension"),
          word("turned round", "swap-AB; inverted"),
          word("to and fro", "serpentine"),
          word("mistakes? (is |are )?planted|planted mistakes?", "mutant"),
          word("rivals?|contestants?|contenders?|peers?", "baseline"),
          word("yardsticks?", "anchor kernel"),
          word("rehears\\w*", "warm-up"),
          word("no kernel can beat", "lower bound"),
          word("merged (grids?|gemms?)", "fused GEMMs, persistent"));

  /** Names of JSON, formats and data that files and scripts hold: they read as they were. */
  private static final Set<String> KEPT = Set.of("peer", "peers", "product", "products");

  /** Classes whose texts are programs: every kernel's hash is of its text, comments too. */
  private static final Set<String> PROGRAMS =
      Set.of(
          "dev/warpwright/cuda/Helper",
          "dev/warpwright/export/ProjectText",
          "dev/warpwright/export/ResultsText");

  /** The names of a record's components, as its {@code toString} has them. */
  private static final Pattern COMPONENTS = Pattern.compile("\\w+(;\\w+)+");

  private static final Pattern OLD_NAME =
      Pattern.compile(
          "Products?(?![a-z])|Bulk|Multiprocessor|Rival|Peer|Planted|Rehears|Yardstick|Contender|Pitch");

  /** All main classes of ours: the test runs with every module. */
  private static final List<ClassModel> CLASSES = new ArrayList<>();

  private static Map.Entry<Pattern, String> word(String ours, String theirs) {
    return Map.entry(
        Pattern.compile("(?<![\\w$/.-])(" + ours + ")(?![\\w-])", Pattern.CASE_INSENSITIVE),
        theirs);
  }

  /** Each old word in a text, with what to say. */
  private static List<String> old(String text) {
    List<String> found = new ArrayList<>();
    WORDS.forEach(
        (word, instead) ->
            word.matcher(text)
                .results()
                .forEach(m -> found.add("'" + m.group() + "' (say " + instead + ") in: " + text)));
    return found;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Measure the best known kernel of a product",
        "sums in f16 are not added up",
        "bulk copies need rows",
        "planted mistakes",
        "blocks along K",
        "on a multiprocessor"
      })
  void oldWordsAreSeen(String text) {
    assertThat(old(text)).hasSize(1);
  }

  @Test
  void helpAndMessagesSayTheFieldsWords() {
    var found = new TreeSet<String>();
    int texts = 0;
    for (ClassModel file : CLASSES) {
      String name = file.thisClass().asInternalName();
      if (PROGRAMS.contains(name)) {
        continue;
      }
      for (String text : texts(file)) {
        texts++;
        if (!KEPT.contains(text) && !COMPONENTS.matcher(text).matches()) {
          old(text).forEach(problem -> found.add(name + ": " + problem));
        }
      }
    }
    assertThat(texts).isGreaterThan(10_000);
    assertThat(found).isEmpty();
  }

  @Test
  void publicClassesHaveTheFieldsNames() {
    var found = new TreeSet<String>();
    for (ClassModel file : CLASSES) {
      String name = file.thisClass().asInternalName();
      if (file.flags().has(AccessFlag.PUBLIC)
          && OLD_NAME.matcher(name.substring(name.lastIndexOf('/') + 1)).find()) {
        found.add(name);
      }
    }
    assertThat(found).isEmpty();
  }

  @Test
  void documentsSayTheFieldsWords() throws IOException {
    List<Path> documents = new ArrayList<>(List.of(Path.of("..", "README.md")));
    documents.add(Path.of("..", "CONTRIBUTING.md"));
    Path docs = Path.of("..", "docs");
    try (Stream<Path> files = Files.walk(docs)) {
      files
          .filter(file -> file.toString().endsWith(".md"))
          .filter(file -> !file.startsWith(docs.resolve("decisions")))
          .filter(file -> !file.startsWith(docs.resolve("benchmarks")))
          // It says what the words are.
          .filter(file -> !file.endsWith("words.md"))
          // Its rows are the titles of benchmarks.
          .filter(file -> !file.startsWith(docs.resolve("results")))
          .forEach(documents::add);
    }
    var found = new TreeSet<String>();
    for (Path document : documents) {
      for (String line : Files.readAllLines(document)) {
        old(line.replaceAll("\\]\\([^)]*\\)", "]"))
            .forEach(problem -> found.add(document + ": " + problem));
      }
    }
    assertThat(documents).hasSizeGreaterThan(20);
    assertThat(found).isEmpty();
  }

  /** Constant strings of a class, and those of its annotations. */
  private static List<String> texts(ClassModel file) {
    List<String> texts = new ArrayList<>();
    for (PoolEntry entry : file.constantPool()) {
      if (entry instanceof StringEntry string) {
        texts.add(string.stringValue());
      }
    }
    annotations(file, texts);
    file.fields().forEach(field -> annotations(field, texts));
    file.methods().forEach(method -> annotations(method, texts));
    return texts;
  }

  private static void annotations(AttributedElement element, List<String> into) {
    element
        .findAttribute(Attributes.runtimeVisibleAnnotations())
        .ifPresent(all -> all.annotations().forEach(one -> values(one, into)));
  }

  private static void values(Annotation annotation, List<String> into) {
    annotation.elements().forEach(element -> value(element.value(), into));
  }

  private static void value(AnnotationValue value, List<String> into) {
    switch (value) {
      case AnnotationValue.OfString string -> into.add(string.stringValue());
      case AnnotationValue.OfArray array -> array.values().forEach(each -> value(each, into));
      case AnnotationValue.OfAnnotation nested -> values(nested.annotation(), into);
      default -> {}
    }
  }

  @BeforeAll
  static void readClasses() throws IOException {
    for (String part : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Path path = Path.of(part);
      if (Files.isDirectory(path)) {
        readClasses(path);
      } else if (Files.isRegularFile(path)) {
        try (var jar = FileSystems.newFileSystem(path)) {
          readClasses(jar.getPath("/"));
        }
      }
    }
    assertThat(CLASSES).hasSizeGreaterThan(1000);
  }

  private static void readClasses(Path folder) throws IOException {
    Path ours = folder.resolve("dev").resolve("warpwright");
    if (!Files.exists(ours) || !Files.exists(folder.resolve("module-info.class"))) {
      return;
    }
    try (Stream<Path> files = Files.walk(ours)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        if (file.toString().endsWith(".class")) {
          CLASSES.add(ClassFile.of().parse(Files.readAllBytes(file)));
        }
      }
    }
  }
}
