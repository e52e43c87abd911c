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

/** The commands ladder and export, on a machine without a GPU. */
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

  @Test
  void exportsARung() throws IOException {
    Path to = folder.resolve("sources");
    assertThat(run("export", "ladder:shared", "MN=100", "K=50", "-o", to.toString()))
        .isEqualTo(ExitCode.OK);
    try (var files = Files.list(to)) {
      assertThat(files.map(p -> p.getFileName().toString()))
          .containsExactlyInAnyOrder(
              "kernel.cuh",
              "main.cu",
              "torch_op.cu",
              "torch_op.py",
              "CMakeLists.txt",
              "trace.json");
    }
    assertThat(Files.readString(to.resolve("kernel.cuh"))).contains("constexpr int kK = 50;");
  }

  @Test
  void exportsARungOnTensorCoresAndAModel() throws IOException {
    Path rung = folder.resolve("rung");
    assertThat(
            run("export", "ladder:wgmma", "MNK=256", "-o", rung.toString(), "--target", "sm_90a"))
        .isEqualTo(ExitCode.OK);
    assertThat(Files.readString(rung.resolve("kernel.cuh"))).contains("make_tensor_map(&A_map");
    Path model = folder.resolve("model");
    String file = Path.of("..", "models", "digits-relu-128-64", "model.onnx").toString();
    assertThat(run("export", file, "--precision", "f16", "--batch", "8", "-o", model.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(model.resolve("x.bin")).hasSize(8 * 64 * 2);
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
        "export ladder:stairs -o x | async-copies; on tensor cores mma-sync, wgmma",
        "check ladder:wgmma | rung 'wgmma' is one on tensor cores; here it is one in f32",
        "export ladder:naive MNK=8 --target sm_90a -o pom.xml | -o pom.xml: it is a file; name a folder",
        "export ladder:naive Q=4 -o x | there is no 'Q'; known are M, N, K",
        "export ladder:naive M=99999999 -o x | M=99999999: it is a whole number",
        "export model.onnx -o x | model.onnx",
        "export model.onnx M=4 -o x | M=: a model has no scalars; use --batch",
        "export model.onnx --batch 0 -o x | --batch 0: the number of rows must be at least 1",
        "export ladder:naive --target sm_91 -o x | sm_91",
        "export missing.kernel -o x | missing.kernel",
        "export ladder:naive | '--out=DIR'"
      })
  void saysWhatIsWrong(String command, String message) {
    assertThat(run(command.strip().split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8).lines().filter(l -> !l.contains("predicting")))
        .singleElement()
        .asString()
        .contains(message.strip());
  }
}
