package dev.warpwright.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.model.npy.NpyArray;
import dev.warpwright.model.npy.NpyFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The whole command on weights without a graph. */
final class WeightsTest {
  private static final int MOST_ROWS = 1024;

  @TempDir Path folder;

  private String out = "";
  private String err = "";

  private static Path models() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(folder.resolve("models"))) {
      folder = Objects.requireNonNull(folder.getParent(), "no folder 'models' above");
    }
    return folder.resolve("models");
  }

  static Stream<Path> weightFiles() throws IOException {
    try (Stream<Path> folders = Files.list(models())) {
      List<Path> all = folders.filter(Files::isDirectory).sorted().toList();
      return all.stream()
          .flatMap(folder -> Stream.of("model.safetensors", "state_dict.pth").map(folder::resolve));
    }
  }

  private int execute(Object... args) {
    var outBytes = new ByteArrayOutputStream();
    var errBytes = new ByteArrayOutputStream();
    int code =
        Main.execute(
            new PrintStream(outBytes, true, StandardCharsets.UTF_8),
            new PrintStream(errBytes, true, StandardCharsets.UTF_8),
            Stream.of(args).map(String::valueOf).toArray(String[]::new));
    out = outBytes.toString(StandardCharsets.UTF_8);
    err = errBytes.toString(StandardCharsets.UTF_8);
    return code;
  }

  /**
   * The file, or where it has thousands of rows one with some of them, evenly. All rows of every
   * network are RealModelsTest's, what a file of weights is does not depend on them.
   */
  private Path someRows(Path file) {
    NpyArray all = NpyFile.read(file);
    int rows = Math.toIntExact(all.shape().getFirst());
    int step = Math.ceilDiv(rows, MOST_ROWS);
    if (step == 1) {
      return file;
    }
    int columns = Math.toIntExact(all.shape().getLast());
    int some = Math.ceilDiv(rows, step);
    double[] values = new double[some * columns];
    for (int i = 0; i < values.length; i++) {
      values[i] = all.doubleAt((long) i / columns * step * columns + i % columns);
    }
    Path less = folder.resolve(file.getFileName());
    NpyFile.write(less, List.of((long) some, (long) columns), values);
    return less;
  }

  @ParameterizedTest
  @MethodSource("weightFiles")
  void runsAndVerifies(Path file) {
    int code =
        execute(
            "run",
            file,
            "--arch",
            file.resolveSibling("arch.json"),
            "--target",
            "cpu",
            "--input",
            someRows(file.resolveSibling("input.npy")),
            "--expect",
            someRows(file.resolveSibling("expected_f64.npy")),
            "--time",
            "0");
    assertThat(code).as(err).isEqualTo(ExitCode.OK);
    assertThat(out).contains("verified: relative error");
  }

  @Test
  void anMlpInWords() {
    Path folder = models().resolve("digits-relu-128-64");
    String arch = "mlp:64,128,64,10:relu";
    int code = execute("plan", folder.resolve("state_dict.pth"), "--arch", arch);
    assertThat(code).as(err).isEqualTo(ExitCode.OK);
    code =
        execute("plan", folder.resolve("state_dict.pth"), "--arch", "mlp:64,128,64,10:hardswish");
    assertThat(code).as(err).isEqualTo(ExitCode.OK);
  }

  @ParameterizedTest
  @MethodSource("weightFiles")
  void asksForTheArchitecture(Path file) {
    assertThat(execute("run", file, "--target", "cpu")).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains("has weights and no graph; say what they are with --arch");
    assertThat(err.lines()).hasSize(1);
    assertThat(out).isEmpty();
  }
}
