package dev.warpwright.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The whole command on weights without a graph. */
final class WeightsTest {
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
            file.resolveSibling("input.npy"),
            "--expect",
            file.resolveSibling("expected_f64.npy"),
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
