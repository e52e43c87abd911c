package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The packages that applications use first lack no comment, no parameter and no result in their
 * Javadoc, and no reference in it is wrong: {@code -Xdoclint:all} says nothing.
 */
final class ApplicationJavadocTest {
  private static final List<String> PACKAGES =
      List.of("dev.warpwright.compiler", "dev.warpwright.compiler.buffer");

  @TempDir Path classes;

  @Test
  void doclintSaysNothing() throws IOException {
    List<Path> files = new ArrayList<>();
    for (String name : PACKAGES) {
      try (Stream<Path> all = Files.list(Path.of("src/main/java", name.replace('.', '/')))) {
        all.filter(file -> file.toString().endsWith(".java")).forEach(files::add);
      }
    }
    assertThat(files).hasSizeGreaterThan(15);
    assertThat(doclint(files)).isEmpty();
  }

  @Test
  void doclintIsAsked() throws IOException {
    Path lacking = Files.createDirectories(classes.resolve("dev/warpwright/compiler"));
    Path file =
        Files.writeString(
            lacking.resolve("Lacking.java"),
            """
            package dev.warpwright.compiler;
            /** A class. */
            public final class Lacking {
              /** Adds. */
              public int plus(int a) {
                return a;
              }
            }
            """);
    assertThat(doclint(List.of(file)))
        .anyMatch(line -> line.contains("no @return"))
        .anyMatch(line -> line.contains("no @param for a"));
  }

  private List<String> doclint(List<Path> files) throws IOException {
    var compiler = ToolProvider.getSystemJavaCompiler();
    var found = new DiagnosticCollector<JavaFileObject>();
    List<String> options =
        List.of(
            "-proc:none",
            "-implicit:none",
            "-Xlint:none",
            "-Xmaxwarns",
            "1000",
            "-Xdoclint:all/protected",
            "-Xdoclint/package:" + String.join(",", PACKAGES),
            "--add-modules",
            "jdk.incubator.vector",
            "-cp",
            System.getProperty("java.class.path"),
            "-d",
            classes.toString());
    try (StandardJavaFileManager manager =
        compiler.getStandardFileManager(found, Locale.ROOT, null)) {
      compiler
          .getTask(null, manager, found, options, null, manager.getJavaFileObjectsFromPaths(files))
          .call();
    }
    return found.getDiagnostics().stream()
        .filter(diagnostic -> diagnostic.getSource() != null)
        .filter(diagnostic -> diagnostic.getKind() != Diagnostic.Kind.NOTE)
        .map(diagnostic -> diagnostic.toString())
        .toList();
  }
}
