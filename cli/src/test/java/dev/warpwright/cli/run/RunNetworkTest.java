package dev.warpwright.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Networks without a file, and pictures. */
final class RunNetworkTest {
  private static final String SIREN = Path.of("..", "models", "image-siren-64x4").toString();

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @TempDir Path folder;

  private int execute(String line) {
    out.reset();
    err.reset();
    return Main.execute(
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        line.replace("SIREN", SIREN).replace("FOLDER", folder.toString()).split(" "));
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "run widths=17,33,10 act=relu rows=51 dtype=f32 --target cpu --time 0|mlp widths=17,33,10 act=",
        "run mlp widths=17,33,10 act=gelu rows=51 dtype=f32 --target cpu --time 0|mlp widths=17,33,10 act=",
        "run ffn M=3 D=24 H=40 gated=1 dtype=bf16 --target cpu --time 0|ffn M=3 D=24",
      })
  void aNetworkWithRandomWeightsIsRunAndVerified(String line, String title) {
    assertThat(execute(line)).as(err.toString(StandardCharsets.UTF_8)).isEqualTo(ExitCode.OK);
    assertThat(out()).startsWith(title).contains("verified: relative error");
  }

  /** Which GEMMs are launched apart is expected by three models, whose times differ. */
  @Test
  void aPlanSaysWhichOfItsTimesAreToBeCompared() {
    assertThat(execute("plan ffn M=64 D=256 H=512 dtype=bf16 --target sm_90a"))
        .isEqualTo(ExitCode.OK);
    assertThat(out())
        .contains("chosen: ", "strategy GEMM per layer: ", "order=rows wait=row: ")
        .contains("times, all expected, of three models: ");
    assertThat(execute("plan widths=64,64,10 rows=16 --target sm_90a")).isEqualTo(ExitCode.OK);
    assertThat(out()).contains("us expected").doesNotContain("three models");
  }

  /** Several kernels of a layer share a launch; each has passes of its own. */
  @Test
  void allPassesOfALayerAreWritten() {
    assertThat(
            execute(
                "plan layer rows=1 HQ=4 HKV=2 D=64 H=128 S=64 dtype=bf16 --target sm_90a --emit"
                    + " FOLDER/passes"))
        .as(err.toString(StandardCharsets.UTF_8))
        .isEqualTo(ExitCode.OK);
    assertThat(out()).contains("that do not need each other");
    assertThat(folder.resolve("passes")).isDirectoryContaining("glob:**-LowerTiles.ir");
  }

  /** The places are those that the network was trained on, and it is as near as info.json says. */
  @Test
  void aPictureIsComparedWithAnother() {
    // DocumentCommandsTest has the picture of the same places without a file of them.
    String run =
        "run SIREN/model.onnx --target cpu --time 0 --image 128x128 --beside SIREN/target.npy";
    assertThat(execute(run + " --input SIREN/input.npy --expect SIREN/expected_f64.npy"))
        .as(err.toString(StandardCharsets.UTF_8))
        .isEqualTo(ExitCode.OK);
    assertThat(out()).contains("PSNR 31.47 dB beside ");
    String small = "run SIREN/model.onnx --target cpu --time 0 --image 40x30";
    assertThat(execute(small + " --out FOLDER/b.png"))
        .as("another resolution")
        .isEqualTo(ExitCode.OK);
    assertThat(out()).contains("1200 rows");
    // The picture itself, but for rounding to 8 bits.
    assertThat(execute(small + " --beside FOLDER/b.png --json")).isEqualTo(ExitCode.OK);
    assertThat(out()).contains("\"picture\": {\"psnr\": 58.");
    assertThat(
            execute(
                "run SIREN/model.onnx --target cpu --time 0 --image 40x31 --beside FOLDER/b.png"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("b.png: 40x30 pixels of 3 channels, the output has 40x31 of 3");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "run SIREN/model.onnx rows=4|rows=4': for mlp, ffn, layer and attention; '",
        "run widths=4,4 rows=2 colour=red|there is no 'colour'; known are rows, widths",
        "run mlp width=4,4 rows=2|no value for widths; is 'width' meant? give the inputs",
        "run mlp widths=4,4 rows=2 baes=1|there is no 'baes'; is 'bias' meant? known are rows, widths",
        "run mlp widths=64,64 rows=2 act=rleu|act=rleu: it is one of ",
        "plan mlp widths=46341,46341 rows=2|widths=46341,46341: a layer of random weights has at most",
        "plan atention|'atention': is 'attention' meant? it is gemm, mlp, ffn, layer, attention or a",
        "run mpl widths=4,4 rows=3|'mpl': is 'mlp' meant? it is gemm",
        "run nope.onnx rows=3|nope.onnx: no such file",
        "export gem MNK=1024 -o FOLDER/o|'gem': is 'gemm' meant?",
        "export gemm MNJ=1024 -o FOLDER/o|no value for M; in 'MNJ' M, N and K can share a value; give M=",
        "check wgmma|'wgmma': it is gemm, mlp, ffn, layer, attention, families, ladder or a",
        "plan layer rows=1 hq=4|no value for HQ; is 'hq' meant? give HQ=",
        "run gemm MNK=64|gemm: run is for networks; 'explain gemm'",
        "run SIREN/model.onnx --beside x.png|--beside x.png: give the picture's size",
        "run ffn M=1 D=8 H=8 order=rows|order= and wait= are for perf, explain, check and export, not for run",
      })
  void saysWhatIsWrong(String line, String message) {
    assertThat(execute(line)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8).lines())
        .singleElement()
        .asString()
        .contains(message);
  }
}
