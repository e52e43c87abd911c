package dev.warpwright;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * What we write must not depend on where it is written: in fa_IR, ar_EG or mr_IN {@code %d} prints
 * digits that no CUDA compiler reads, in tr_TR {@code "TILE".toLowerCase()} has another letter.
 * Error Prone says so while compiling; this test looks at the class files, so that a build without
 * it is held to the same.
 */
final class LocaleTest {
  /** Methods that ask for the default locale: owner and name, and how the descriptor begins. */
  private static final Map<String, String> FORBIDDEN =
      Map.ofEntries(
          Map.entry("java/lang/String.formatted", "("),
          Map.entry("java/lang/String.format", "(Ljava/lang/String;"),
          Map.entry("java/lang/String.toLowerCase", "()"),
          Map.entry("java/lang/String.toUpperCase", "()"),
          Map.entry("java/io/PrintStream.printf", "(Ljava/lang/String;"),
          Map.entry("java/io/PrintStream.format", "(Ljava/lang/String;"),
          Map.entry("java/io/PrintWriter.printf", "(Ljava/lang/String;"),
          Map.entry("java/io/PrintWriter.format", "(Ljava/lang/String;"),
          Map.entry("java/util/Formatter.<init>", "()"),
          Map.entry("java/util/Scanner.<init>", "("),
          Map.entry("java/text/MessageFormat.format", "(Ljava/lang/String;"),
          Map.entry("java/text/DecimalFormat.<init>", "(Ljava/lang/String;)"),
          Map.entry("java/text/SimpleDateFormat.<init>", "(Ljava/lang/String;)"),
          Map.entry("java/text/NumberFormat.getInstance", "()"),
          Map.entry("java/time/format/DateTimeFormatter.ofPattern", "(Ljava/lang/String;)"));

  @Test
  void nothingAsksForTheDefaultLocale() throws IOException {
    var found = new TreeSet<String>();
    int classes = 0;
    for (String part : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Path path = Path.of(part);
      if (Files.isDirectory(path)) {
        classes += read(path, found);
      } else if (Files.isRegularFile(path)
          && path.getFileName().toString().contains("warpwright")) {
        try (var jar = FileSystems.newFileSystem(path)) {
          classes += read(jar.getPath("/"), found);
        }
      }
    }
    assertThat(classes).as("classes looked at").isGreaterThan(500);
    assertThat(found).isEmpty();
  }

  /** The test can fail: this class does what it forbids. */
  @Test
  void seesACallThatDoes() throws IOException {
    var found = new TreeSet<String>();
    try (var in = Guilty.class.getResourceAsStream("LocaleTest$Guilty.class")) {
      look(ClassFile.of().parse(in.readAllBytes()), found);
    }
    assertThat(found).hasSize(2);
  }

  private static int read(Path root, TreeSet<String> found) throws IOException {
    Path ours = root.resolve("dev/warpwright");
    if (!Files.isDirectory(ours)) {
      return 0;
    }
    int count = 0;
    try (var files = Files.walk(ours)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String name = file.toString();
        if (name.endsWith(".class") && !name.endsWith("LocaleTest$Guilty.class")) {
          look(ClassFile.of().parse(Files.readAllBytes(file)), found);
          count++;
        }
      }
    }
    return count;
  }

  private static void look(ClassModel file, TreeSet<String> found) {
    for (PoolEntry entry : file.constantPool()) {
      if (entry instanceof MemberRefEntry member) {
        String method = member.owner().asInternalName() + "." + member.name().stringValue();
        String start = FORBIDDEN.get(method);
        if (start != null && member.type().stringValue().startsWith(start)) {
          found.add(file.thisClass().asInternalName() + " calls " + method);
        }
      }
    }
  }

  private static final class Guilty {
    @SuppressWarnings({"DefaultLocale", "StringCaseLocaleUsage", "unused"})
    String text() {
      return "%d".formatted(1).toLowerCase();
    }
  }
}
