package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringWriter;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The README's Java example compiles and runs. */
class ReadmeTest {
  private static final Pattern JAVA = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);

  @TempDir Path folder;

  @Test
  void theExampleRuns() throws Exception {
    Path model = RealModel.of("digits-relu-128-64/model.onnx").file();
    Path readme = model.resolve("../../../README.md").normalize();
    Matcher matcher = JAVA.matcher(Files.readString(readme));
    assertThat(matcher.find()).isTrue();
    String example = matcher.group(1).replace("\"model.onnx\"", "\"" + model + "\"");
    Path source =
        Files.writeString(
            folder.resolve("Example.java"),
            String.format(
                Locale.ROOT,
                """
                import dev.warpwright.compiler.*;
                import java.nio.file.Path;
                public class Example {
                  public static void run() {
                    %s
                  }
                }
                """,
                example));
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
        new URLClassLoader(new URL[] {folder.toUri().toURL()}, ReadmeTest.class.getClassLoader())) {
      Method run = loader.loadClass("Example").getMethod("run");
      run.invoke(null);
    }
  }
}
