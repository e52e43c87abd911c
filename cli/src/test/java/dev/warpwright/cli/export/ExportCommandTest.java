package dev.warpwright.cli.export;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command export, on a machine without a GPU. */
final class ExportCommandTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @TempDir Path folder;

  private int run(String... args) {
    return Main.execute(
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        args);
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
              "__init__.py",
              "CMakeLists.txt",
              "Makefile",
              "README.md",
              "trace.json",
              ExportFolder.WRITTEN);
    }
    assertThat(Files.readString(to.resolve("kernel.cuh"))).contains("constexpr int kK = 50;");
  }

  /**
   * Kernels for a number of rows read whole tiles; what is compared is the rows that were asked.
   */
  @Test
  void theFilesOfFewRowsAreAsLongAsTheProgramReads() throws IOException {
    String mlp = "export mlp widths=640,1200,640 act=relu dtype=f16 rows=3 --target sm_90a -o ";
    assertThat(run((mlp + folder).split(" "))).isEqualTo(ExitCode.OK);
    String main = Files.readString(folder.resolve("main.cu"));
    Matcher read = Pattern.compile("read_file<(\\w+)>\\(\"(\\S+)\", (\\d+)\\)").matcher(main);
    int files = 0;
    while (read.find()) {
      int bytes = Map.of("f16", 2, "float", 4, "char", 1).get(read.group(1));
      assertThat(Files.size(folder.resolve(read.group(2))))
          .as(read.group())
          .isEqualTo(Long.parseLong(read.group(3)) * bytes);
      files++;
    }
    assertThat(files).isEqualTo(4);
    assertThat(main).contains("\"y.expected.bin\", 1920)", "i < 1920;");
  }

  /** Its buffers have no more rows, whatever number a caller names. */
  @Test
  void aProgramForANumberOfRowsLaunchesNoMore() throws IOException {
    String mlp = "export mlp widths=640,1200,640 act=relu dtype=f16 rows=3 --target sm_90a -o ";
    assertThat(run((mlp + folder.resolve("cuda")).split(" "))).isEqualTo(ExitCode.OK);
    assertThat(Files.readString(folder.resolve("cuda").resolve("kernel.cuh")))
        .contains("if (M < 0 || M > 16) {");
    assertThat(run((mlp + folder.resolve("java") + " --java --name few").split(" ")))
        .isEqualTo(ExitCode.OK);
    assertThat(Files.readString(folder.resolve("java").resolve("Few.java")))
        .contains("if (M < 0 || M > 16) {");
  }

  /** Two exports of one kind in one process need two names. */
  @Test
  void aNameIsThatOfFunctionAndOperator() throws IOException {
    assertThat(
            run(
                "export",
                "gemm",
                "MNK=64",
                "dtype=f16",
                "--target",
                "sm_80",
                "--name",
                "score",
                "-o",
                folder.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(Files.readString(folder.resolve("kernel.cuh"))).contains("launch_score(");
    assertThat(Files.readString(folder.resolve("torch_op.py"))).contains("warpwright::score\"");
    assertThat(Files.readString(folder.resolve("CMakeLists.txt"))).contains("project(score ");
  }

  /** Both GEMMs in one kernel, whose counters the host program makes. */
  @Test
  void aBlockWhoseGemmsShareAKernelIsOneLaunch() throws IOException {
    assertThat(
            run(
                "export",
                "ffn",
                "M=128",
                "D=256",
                "H=512",
                "order=rows",
                "wait=row",
                "--target",
                "sm_90a",
                "-o",
                folder.toString()))
        .as(err.toString(StandardCharsets.UTF_8))
        .isEqualTo(ExitCode.OK);
    String launch = Files.readString(folder.resolve("kernel.cuh"));
    assertThat(launch.split("<<<", -1)).hasSize(2);
    assertThat(launch).contains("unsigned* counters", "cudaMemsetAsync(counters, 0");
  }

  private int exportRung(Path to, int k, String... more) {
    List<String> args =
        new ArrayList<>(
            List.of("export", "ladder:shared", "MN=100", "K=" + k, "--target", "sm_80", "-o"));
    args.add(to.toString());
    args.addAll(List.of(more));
    out.reset();
    err.reset();
    return run(args.toArray(String[]::new));
  }

  /** Every file of the folder with its content. */
  private Map<String, String> content() throws IOException {
    Map<String, String> content = new TreeMap<>();
    try (var files = Files.list(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        content.put(file.getFileName().toString(), Files.readString(file));
      }
    }
    return content;
  }

  @Test
  void leavesAProjectOfTheUserAlone() throws IOException {
    Files.writeString(folder.resolve("main.cu"), "int main() { return mine(); }\n");
    Files.writeString(folder.resolve("CMakeLists.txt"), "project(mine)\n");
    Map<String, String> before = content();
    assertThat(exportRung(folder, 50)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .isEqualTo(
            "warpwright: -o "
                + folder
                + ": main.cu, CMakeLists.txt are there and not as an export wrote them; name"
                + " another folder, or replace with --force\n");
    assertThat(content()).isEqualTo(before);
    assertThat(exportRung(folder, 50, "--force")).isEqualTo(ExitCode.OK);
    assertThat(content().get("main.cu")).isNotEqualTo(before.get("main.cu"));
    // Its own files it may replace, until somebody works on them.
    assertThat(exportRung(folder, 50)).isEqualTo(ExitCode.OK);
    assertThat(exportRung(folder, 52)).isEqualTo(ExitCode.OK);
    Files.writeString(folder.resolve("main.cu"), "// tuned by hand\n");
    Map<String, String> edited = content();
    assertThat(exportRung(folder, 50)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("main.cu is there");
    assertThat(content()).isEqualTo(edited);
  }

  @Test
  void oneFileThatCannotBeWrittenLeavesAllAsTheyWere() throws IOException {
    assertThat(exportRung(folder, 50)).isEqualTo(ExitCode.OK);
    Files.delete(folder.resolve("trace.json"));
    Files.createDirectory(folder.resolve("trace.json"));
    Map<String, String> before = content();
    assertThat(exportRung(folder, 52, "--force")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("trace.json: it is a folder");
    assertThat(content()).isEqualTo(before);
  }

  @ParameterizedTest
  @CsvSource({"'',name a folder", "/,the root of the file system", "/../,the root of"})
  void refusesFoldersThatNobodyMeans(String to, String why) throws IOException {
    assertThat(exportRung(Path.of(to), 50)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .startsWith("warpwright: -o ")
        .contains(why)
        .hasLineCount(1);
    assertThat(Path.of("kernel.cuh")).doesNotExist();
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
    // Named after the model, so that two are two in one process.
    assertThat(Files.readString(model.resolve("torch_op.py")))
        .contains("custom_op(\"warpwright::digits_relu_128_64\"");
    assertThat(Files.readString(model.resolve("README.md")))
        .startsWith("# digits_relu_128_64\n")
        .contains("`launch_digits_relu_128_64` launches it");
  }

  @Test
  void exportsTheBestKnownKernelOfAProduct() throws IOException {
    assertThat(
            run(
                "export",
                "gemm",
                "MNK=4096",
                "dtype=bf16",
                "--target",
                "sm_90a",
                "-o",
                folder.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("the kernel is tuned for this GEMM");
    assertThat(Files.readString(folder.resolve("kernel.cuh")))
        .startsWith(
            "// C[4096, 4096] = A[4096, 4096] * transposed B[4096, 4096] in bf16, row-major;"
                + " tuned for this GEMM.\n")
        .contains("constexpr int kM = 4096;", "wgmma", "static const int kOrder[] = {");
    assertThat(Files.readString(folder.resolve("trace.json"))).contains("\"op\"");
  }

  @Test
  void exportsAProductOfWhichNothingWasMeasured() throws IOException {
    assertThat(
            run(
                "export",
                "gemm",
                "M=100",
                "N=72",
                "K=40",
                "dtype=f16",
                "layout=tn",
                "alpha=0.5",
                "bias=1",
                "act=gelu",
                "residual=1",
                "--target",
                "sm_80",
                "-o",
                folder.toString()))
        .isEqualTo(ExitCode.OK);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("chosen by a model, not measured");
    assertThat(Files.readString(folder.resolve("kernel.cuh")))
        .startsWith(
            "// C[100, 72] = gelu(0.5 * transposed A[40, 100] * B[40, 72] + bias) + S in f16,"
                + " row-major; chosen by a model, not measured.\n");
    assertThat(Files.readString(folder.resolve("main.cu")))
        .contains("double term = value(A[k * kM + i]) * value(B[k * kN + j]);")
        .contains("const double x = 0.5 * sum + value(bias[j]);")
        .contains("(1 + std::erf(x / std::sqrt(2.0))) + value(S[i * kN + j]),");
    assertThat(Files.readString(folder.resolve("torch_op.py")))
        .contains("gelu(0.5 * (A.double().mT @ B.double()) + bias.double()) + S.double()");
  }

  /** A launch that is not cooperative could wait for blocks that have no place. */
  @Test
  void refusesBlocksThatWaitForAll(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("waits.kernel");
    Files.writeString(
        file,
        "kernel waits(y: f32[32]) grid(bx = 1) block(tx = 32) [cooperative = 1] { y[tx] = 1.0f32 }");
    assertThat(run("export", file.toString(), "-o", folder.resolve("out").toString()))
        .isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("waits cannot be exported: its blocks wait for each other");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "export ladder:stairs -o x | async-copies; on tensor cores mma-sync, wgmma",
        "export ladder:naive MNK=8 --target sm_90a -o pom.xml | -o pom.xml: it is a file; name a"
            + " folder",
        "export ladder:naive Q=4 -o x | there is no 'Q'; known are M, N, K",
        "export ladder:naive M=99999999 -o x | M=99999999: it is a whole number",
        "export model.onnx -o x | model.onnx",
        "export ../models/digits-relu-128-64/model.onnx M=4 -o x | M=: for gemm, networks of random",
        "export model.onnx --batch 0 -o x | --batch 0: the number of rows must be at least 1",
        "export ladder:naive --target sm_91 -o x | sm_91",
        "export gemm MNK=64 --name 2nd -o x | --name 2nd: letters, digits and _",
        "export gemm MNK=64 --cubin --java -o x | --cubin or --java, not both",
        "export gemm MNK=64 --java --target sm_80,sm_86 -o x | --java: machine code is for one",
        "export ladder:naive --target sm_80,sm_86 -o x | --target: several are for gemm, mlp, ffn",
        "export ffn M=128 D=64 H=128 order=rows --target sm_80,sm_90a -o x | one kernel of both",
        "export ffn M=128 D=64 H=128 order=rows --target sm_80 -o x | one kernel of both GEMMs is",
        "export missing.kernel -o x | missing.kernel",
        "export ladder:naive | '--out=DIR'",
        "export gemm MNK=1000000 -o x | A of 1000000 x 1000000 has more than 2^31 elements",
        "export gemm M=4 -o x | no value for N; give N=...",
        "export gemm MNK=64 colour=4 -o x | there is no 'colour'; known are M, N, K, dtype",
        "export gemm MNK=64 batch=4 groups=2 -o x | groups: export takes GEMMs whose B is known",
        "export gemm MNK=64 lda=72 -o x | lda, ldb, ldc, stridea, strideb, stridec: export takes",
        "export gemm MNK=64 dtype=e4m3 --target sm_75 -o x | needs sm_89 or newer, the target is"
            + " sm_75"
      })
  void saysWhatIsWrong(String command, String message) {
    assertThat(run(command.strip().split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8).lines().filter(l -> !l.contains("predicting")))
        .singleElement()
        .asString()
        .contains(message.strip());
  }
}
