package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A JVM that was started without the incubating module of vectors computes, and says once why it is
 * slow.
 */
class WithoutVectorsTest {
  /** What the child does: two devices, so that there is a second chance to warn. */
  static final class Application {
    private Application() {}

    public static void main(String[] args) {
      for (int i = 0; i < 2; i++) {
        try (CpuDevice device = new CpuDevice()) {
          float[] c = new float[4];
          device.matmul(2, 2, 2).run(new float[] {1, 2, 3, 4}, new float[] {5, 6, 7, 8}, c);
          System.out.println(List.of(c[0], c[1], c[2], c[3]));
        }
      }
    }
  }

  @Test
  void oneWarningAndRightResults() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Application.class.getName())
            .redirectErrorStream(true)
            .start();
    String output;
    try (var in = process.getInputStream()) {
      output = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output.lines().filter("[19.0, 22.0, 43.0, 50.0]"::equals)).hasSize(2);
    assertThat(output.lines().filter(line -> line.contains("slower")))
        .singleElement()
        .asString()
        .contains("3 to 20 times slower")
        .contains("add --add-modules jdk.incubator.vector to the options of java")
        .contains("set JDK_JAVA_OPTIONS=--add-modules=jdk.incubator.vector");
  }
}
