package dev.warpwright;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.Attributes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The packages that users see lack no comment, no parameter and no result in their Javadoc, and no
 * reference in it is wrong: {@code -Xdoclint:all} says nothing.
 */
final class ApiJavadocTest {
  @TempDir Path classes;

  @Test
  void doclintSaysNothing() throws IOException {
    Map<String, Path> packages = packages();
    assertThat(packages).hasSizeGreaterThan(30).containsKey("dev.warpwright.compiler.buffer");
    List<Path> files = new ArrayList<>();
    for (Path folder : packages.values()) {
      try (Stream<Path> all = Files.list(folder)) {
        all.filter(file -> file.toString().endsWith(".java")).forEach(files::add);
      }
    }
    assertThat(files).hasSizeGreaterThan(200);
    assertThat(doclint(packages, files)).isEmpty();
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
    assertThat(doclint(packages(), List.of(file)))
        .anyMatch(line -> line.contains("no @return"))
        .anyMatch(line -> line.contains("no @param for a"));
  }

  /** The packages that are exported to everybody, and where their sources are. */
  private static Map<String, Path> packages() throws IOException {
    Map<String, Path> packages = new TreeMap<>();
    OurModules.read()
        .forEach(
            (module, files) ->
                files.stream()
                    .flatMap(file -> file.findAttribute(Attributes.module()).stream())
                    .flatMap(info -> info.exports().stream())
                    .filter(export -> export.exportsTo().isEmpty())
                    .map(export -> export.exportedPackage().name().stringValue())
                    .forEach(
                        name ->
                            packages.put(
                                name.replace('/', '.'),
                                Path.of("..", module, "src", "main", "java").resolve(name))));
    return packages;
  }

  private List<String> doclint(Map<String, Path> packages, List<Path> files) throws IOException {
    var compiler = ToolProvider.getSystemJavaCompiler();
    var found = new DiagnosticCollector<JavaFileObject>();
    List<String> options =
        List.of(
            "-proc:none",
            "-implicit:none",
            "-Xlint:none",
            "-Xmaxwarns",
            "1000",
            // Comments are looked at before code is made.
            "--should-stop=ifNoError=FLOW",
            "-Xdoclint:all/protected",
            "-Xdoclint/package:" + String.join(",", packages.keySet()),
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
        // Of the JDK's own packages that the tuner's processes use: javac says it whatever is
        // asked.
        .filter(diagnostic -> !diagnostic.getCode().equals("compiler.warn.sun.proprietary"))
        .map(diagnostic -> diagnostic.toString())
        .toList();
  }
}
