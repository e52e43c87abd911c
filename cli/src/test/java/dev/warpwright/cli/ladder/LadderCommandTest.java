package dev.warpwright.cli.ladder;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command ladder, on a machine without a GPU. */
final class LadderCommandTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @TempDir Path folder;

  private int run(String... args) {
    return Main.execute(
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        args);
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void predictsARungAndDrawsIt() throws IOException {
    Path chart = folder.resolve("chart.svg");
    assertThat(
            run(
                "ladder",
                "MN=128",
                "K=64",
                "--predict",
                "--rung",
                "naive",
                "--rung",
                "warp-tiles",
                "--chart",
                chart.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(out())
        .contains("128x128x64 on H200 SXM, predicted, not measured")
        .containsPattern("naive +f32 +\\d")
        .containsPattern("warp-tiles +f32 +\\d")
        .contains("nothing was run");
    assertThat(Files.readString(chart))
        .startsWith("<svg")
        .contains("prefers-color-scheme: dark", ">warp-tiles<", "predicted, not measured")
        .endsWith("</svg>\n");
  }

  @Test
  void jsonSaysWhatIsPredicted() {
    assertThat(run("ladder", "MNK=64", "--predict", "--no-chart", "--rung", "tiles-1d", "--json"))
        .isEqualTo(ExitCode.OK);
    assertThat(out())
        .contains("\"rungs\": [{\"name\": \"tiles-1d\"")
        .contains("\"relError\": null", "\"verified\": false", "\"predicted\": true");
  }

  @Test
  void tensorCoresTakeEveryShape() {
    assertThat(run("ladder", "MNK=127", "--predict", "--no-chart", "--rung", "wgmma"))
        .isEqualTo(ExitCode.OK);
    assertThat(out()).containsPattern("wgmma +bf16 +\\d");
    assertThat(run("ladder", "MNK=512", "--predict", "--no-chart", "--rung", "wgmma"))
        .isEqualTo(ExitCode.OK);
    assertThat(out()).containsPattern("wgmma +bf16 +\\d");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ladder MNK=0 | M=0: it is a whole number",
        "ladder L=4 | there is no 'L'; known are M, N, K",
        "ladder --rung stairs --predict | there is no rung 'stairs'; there are naive,",
        "ladder --device abacus | --device abacus: known are",
        "ladder --rounds 0 | --rounds 0",
        "check ladder:wgmma | rung 'wgmma' is one on tensor cores; here it is one in f32",
      })
  void saysWhatIsWrong(String command, String message) {
    assertThat(run(command.strip().split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8).lines().filter(l -> !l.contains("predicting")))
        .singleElement()
        .asString()
        .contains(message.strip());
  }
}
