package dev.warpwright.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.model.npy.NpyFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Models of several outputs, in every command that takes a model. */
final class SeveralOutputsTest {
  private static final List<String> NAMES = List.of("y", "a/head", "h", "again", "x");

  @TempDir Path folder;
  private Path model = Path.of("");
  private String out = "";
  private String err = "";

  @BeforeEach
  void write() throws IOException {
    model = folder.resolve("heads.onnx");
    Files.write(model, TinyOnnx.severalOutputs());
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
  @ValueSource(strings = {"cpu", "sim"})
  void runVerifiesEach(String target) {
    int code = execute("run", model, "--target", target, "--time", "0", "--batch", "37");
    assertThat(code).as(err).isEqualTo(ExitCode.OK);
    for (String name : NAMES) {
      assertThat(out).contains("verified '" + name + "': relative error");
    }
    code = execute("run", model, "--target", target, "--time", "0", "--json");
    assertThat(code).as(err).isEqualTo(ExitCode.OK);
    for (String name : NAMES) {
      assertThat(out.replace(" ", "")).contains("\"name\":\"" + name + "\"");
    }
  }

  @Test
  void runWritesAllIntoAFolderAndExpectsThemFromThere() throws IOException {
    Path all = folder.resolve("all");
    Path input = folder.resolve("in.npy");
    NpyFile.write(input, List.of(2L, 4L), new float[] {1, 2, 3, 4, 2, 0.5f, 0, -1});
    assertThat(execute("run", model, "--target", "cpu", "--input", input, "--out", all))
        .as(err)
        .isZero();
    assertThat(all.toFile().list())
        .containsExactlyInAnyOrder("y.npy", "a_head.npy", "h.npy", "again.npy", "x.npy");
    float[] h = NpyFile.read(all.resolve("h.npy")).toFloats();
    float[] y = NpyFile.read(all.resolve("y.npy")).toFloats();
    float[] head = NpyFile.read(all.resolve("a_head.npy")).toFloats();
    assertThat(h).hasSize(6).contains(0f);
    for (int i = 0; i < 6; i++) {
      assertThat(y[i]).isEqualTo(-h[i]);
      assertThat((double) head[i]).isCloseTo(Math.tanh(h[i]), within(1e-6));
    }
    assertThat(execute("run", model, "--target", "sim", "--input", input, "--expect", all))
        .as(err)
        .isZero();

    // One that is wrong, small beside the others, makes the run wrong, and is named.
    NpyFile.write(all.resolve("again.npy"), List.of(2L, 3L), new float[] {0, 0, 0, 0, 0, 1e-6f});
    assertThat(execute("run", model, "--target", "cpu", "--input", input, "--expect", all))
        .isEqualTo(ExitCode.WRONG);
    assertThat(out).contains("WRONG 'again'").contains("verified 'y'");
  }

  /** Of each output, whether a file or the interpreter says what it should be. */
  @Test
  void aSmallRowThatIsWrongIsFoundBesideALargeOne() {
    Path all = folder.resolve("all");
    Path input = folder.resolve("in.npy");
    NpyFile.write(
        input, List.of(2L, 4L), new float[] {1000, 2000, 3000, 4000, 1e-3f, 2e-3f, 3e-3f, 4e-3f});
    assertThat(execute("run", model, "--target", "cpu", "--input", input, "--out", all))
        .as(err)
        .isZero();
    Path file = all.resolve("h.npy");
    Object[] some = {"run", model, "--target", "cpu", "--input", input, "--expect", "h=" + file};
    assertThat(execute(some)).as(out + err).isZero();
    float[] h = NpyFile.read(file).toFloats();
    h[5] *= 1.5f;
    NpyFile.write(file, List.of(2L, 3L), h);
    assertThat(execute(some)).isEqualTo(ExitCode.WRONG);
    assertThat(out)
        .containsPattern("WRONG 'h': relative error \\d[.]\\d+e-07.*; element \\[1, 2] is ")
        .contains("verified 'y'", "verified 'a/head'", "verified 'again'");
    assertThat(execute("run", model, "--target", "cpu", "--input", input, "--expect", all))
        .isEqualTo(ExitCode.WRONG);
    assertThat(out).contains("WRONG 'h'", "verified 'y'");
  }

  private static org.assertj.core.data.Offset<Double> within(double offset) {
    return org.assertj.core.data.Offset.offset(offset);
  }

  @Test
  void runWritesWhatIsNamed() {
    Path head = folder.resolve("head.npy");
    Path y = folder.resolve("y=1.npy");
    int code =
        execute("run", model, "--target", "cpu", "--out", "a/head=" + head, "--out", "y=" + y);
    assertThat(code).as(err).isZero();
    assertThat(folder.toFile().list())
        .containsExactlyInAnyOrder("heads.onnx", "head.npy", "y=1.npy");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "--out y.npy; --out y.npy: the model has 5 outputs, 'y', 'a/head', 'h', 'again', 'x'; give"
            + " a folder, or NAME=FILE for each",
        "--expect y.npy; --expect y.npy: the model has 5 outputs",
        "--out z=a.npy; --out z=a.npy: the model has 5 outputs",
        "--out y=a.npy --out h; --out h: not NAME=FILE with the name of an output: 'y', 'a/head'",
        "--out y=a.npy --out y=b.npy; --out: there are two files for output 'y'",
        "--out y=; --out y=: no name of a file",
        "--out none/none; cannot write none/none/y.npy: there is no folder",
        "--expect none; none/y.npy",
        "--out all --image 8x8; --image 8x8: say which output is the picture, --out NAME=FILE.png"
      })
  void whatDoesNotFitIsRefusedInOneLine(String options, String message) {
    Stream<String> args =
        Stream.concat(
            Stream.of("run", model.toString(), "--target", "cpu"), Stream.of(options.split(" ")));
    assertThat(execute(args.toArray())).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains(message).doesNotContain("\tat ");
    assertThat(err.lines()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"f32", "bf16"})
  void theOtherCommandsTakeIt(String precision) throws IOException {
    assertThat(execute("plan", model, "--target", "sm_80", "--precision", precision))
        .as(err)
        .isZero();
    assertThat(out).contains("rows: 1 kernel, ");
    assertThat(execute("check", model, "--target", "sm_80", "--precision", precision))
        .as(err)
        .isZero();
    Path folderOfExport = folder.resolve("export");
    int code = execute("export", model, "-o", folderOfExport, "--precision", precision);
    assertThat(code).as(err).isZero();
    String main = Files.readString(folderOfExport.resolve("main.cu"));
    String torch = Files.readString(folderOfExport.resolve("torch_op.py"));
    for (int i = 0; i < NAMES.size(); i++) {
      String name = i == 0 ? "y" : "y" + i;
      assertThat(main).contains("\"" + name + ".expected.bin\"");
      assertThat(folderOfExport.resolve(name + ".expected.bin")).exists();
    }
    assertThat(torch).contains("-> tuple[torch.Tensor, torch.Tensor, torch.Tensor,");
    assertThat(torch).contains("which gives 'y', 'a/head', 'h', 'again', 'x'");
    assertThat(main).contains("right = right_y && right_y1 && right_y2 && right_y3 && right_y4;");
    assertThat(torch).contains("return y, y1, y2, y3, y4");
  }
}
