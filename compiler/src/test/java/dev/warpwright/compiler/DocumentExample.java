package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/** Java that stands in a document. */
final class DocumentExample {
  private static final Pattern JAVA = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);

  private DocumentExample() {}

  /** The first example of a document, as it is written there. */
  static String of(Path document) throws IOException {
    Matcher matcher = JAVA.matcher(Files.readString(document));
    assertThat(matcher.find()).as("an example in %s", document).isTrue();
    return matcher.group(1);
  }

  /** All examples of a document, in order. */
  static List<String> all(Path document) throws IOException {
    return JAVA.matcher(Files.readString(document)).results().map(m -> m.group(1)).toList();
  }

  /** Compiles a class in a folder, and calls a method of it. */
  static void run(Path folder, String name, String text, String method, Object... arguments)
      throws Exception {
    Path source = Files.writeString(folder.resolve(name + ".java"), text);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    List<String> options =
        List.of(
            "-proc:none",
            "-d",
            folder.toString(),
            "-cp",
            System.getProperty("java.class.path"),
            "--add-modules",
            "jdk.incubator.vector");
    try (var files = compiler.getStandardFileManager(null, null, null)) {
      boolean compiled =
          compiler
              .getTask(messages, files, null, options, null, files.getJavaFileObjects(source))
              .call();
      assertThat(compiled).as(messages.toString()).isTrue();
    }
    try (var loader =
        new URLClassLoader(
            new URL[] {folder.toUri().toURL()}, DocumentExample.class.getClassLoader())) {
      Class<?>[] types = new Class<?>[arguments.length];
      for (int i = 0; i < types.length; i++) {
        types[i] = arguments[i].getClass();
      }
      Method run = loader.loadClass(name).getMethod(method, types);
      run.invoke(null, arguments);
    }
  }
}
