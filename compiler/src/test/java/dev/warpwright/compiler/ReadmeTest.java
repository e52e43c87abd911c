package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The documents' Java examples compile and run. */
class ReadmeTest {
  @TempDir Path folder;

  @Test
  void theExampleRuns() throws Exception {
    Path model = RealModel.of("digits-relu-128-64/model.onnx").file();
    Path readme = model.resolve("../../../README.md").normalize();
    String example = DocumentExample.of(readme).replace("\"model.onnx\"", "\"" + model + "\"");
    String text =
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
            example);
    DocumentExample.run(folder, "Example", text, "run");
  }

  @Test
  void theScheduleByHandIsRight() throws Exception {
    Path document = Path.of("..", "docs", "writing-a-schedule.md");
    Path kernel = folder.resolve("mine.kernel");
    String text = DocumentExample.of(document).replace("\"mine.kernel\"", "\"" + kernel + "\"");
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      DocumentExample.run(folder, "MyGemm", text, "main", (Object) new String[0]);
    } finally {
      System.setOut(before);
    }
    assertThat(said.toString(StandardCharsets.UTF_8))
        .as("no findings, and the same bits")
        .contains("[]\nrelative error 0.0, greatest error 0.0 at 0\n")
        .contains("__global__ void");
    assertThat(Files.readString(kernel)).startsWith("kernel gemm_nt_f32(A: f32[100, 70]");
  }
}
