package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every snippet of the guide for Java developers compiles and runs. */
class JavaGuideTest {
  @TempDir Path folder;

  @Test
  void everySnippetRuns() throws Exception {
    Path model = RealModel.of("digits-relu-128-64/model.onnx").file();
    List<String> snippets = DocumentExample.all(Path.of("..", "docs", "java-guide.md"));
    assertThat(snippets).hasSizeGreaterThan(5);
    StringBuilder methods = new StringBuilder();
    StringBuilder calls = new StringBuilder();
    for (int i = 0; i < snippets.size(); i++) {
      methods.append(
          "static void snippet" + i + "() throws Exception {\n" + snippets.get(i) + "}\n");
      calls.append("snippet" + i + "();\n");
    }
    String text =
        """
        import dev.warpwright.base.*;
        import dev.warpwright.compiler.*;
        import dev.warpwright.compiler.buffer.*;
        import dev.warpwright.ir.type.DType;
        import java.lang.foreign.*;
        import java.nio.FloatBuffer;
        import java.nio.file.Path;
        import java.util.*;
        import java.util.concurrent.*;
        public class Guide {
          public static void run() throws Exception {
        """
            + calls
            + "}\n"
            + methods.toString().replace("\"model.onnx\"", "\"" + model + "\"")
            + "}\n";
    DocumentExample.run(folder, "Guide", text, "run");
  }
}
