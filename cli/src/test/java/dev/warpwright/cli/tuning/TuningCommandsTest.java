package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.runtime.cuda.CudaDriver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The commands around tuning, as far as they need no GPU. */
final class TuningCommandsTest {
  @TempDir private Path folder;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(String... args) {
    out.reset();
    err.reset();
    return Main.execute(
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        args);
  }

  private String database(String name) {
    return folder.resolve(name).toString();
  }

  /** The block, not its GEMMs one by one. */
  @Test
  void feedForwardBlocksArePlannedAndChecked() {
    String block = "ffn M=3 D=32 H=48 gated=1 dtype=f16 ";
    assertThat(run(("plan " + block + "--target sm_90a --json").split(" "))).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains("\"model\": \"ffn\"", "\"rows\": 3", "\"precision\": \"f16\"")
        .contains("\"strategy\": \"GEMM per layer\"", "\"fits\": true", "\"expectedUs\":")
        .contains("on sm_90a warpgroups chain, whose GEMMs are faster");
    assertThat(run(("check " + block + "--schedules 1").split(" "))).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains("rows=3", "compared with its graph", "no findings");
    assertThat(run("plan", "ffn", "M=3", "D=32")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("no value for H; give H=...");
    assertThat(run("plan", "../models/digits-relu-128-64/model.onnx", "M=3"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("'M=3': for mlp, ffn, layer and attention");
  }

  /** Both GEMMs in one persistent kernel, in an order and with waits of one's choice. */
  @Test
  void theGemmsOfABlockMayShareAKernel() {
    String block = "ffn M=70 D=128 H=208 dtype=bf16 ";
    assertThat(run(("check " + block + "order=rows wait=row --schedules 2").split(" "))).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains("rows=70", "compared with its graph", "no findings");
    assertThat(run(("explain " + block + "wait=grid --json --device").split(" "), "H200 SXM"))
        .isZero();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains(
            "\"strategy\": \"both GEMMs in one grid order=sequence wait=grid\"", "\"blocks\": 132");
    assertThat(run(("plan " + block + "order=rows").split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("not for plan: tune tries them by itself");
    assertThat(run(("check " + block + "order=rows gated=1").split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("two GEMMs with a GELU between");
    assertThat(run("check ffn M=70 D=64 H=208 order=rows".split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("cannot share a kernel");
    assertThat(run(("check " + block + "order=spiral").split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("'sequence' or 'rows', not spiral");
  }

  private int run(String[] arguments, String last) {
    String[] all = java.util.Arrays.copyOf(arguments, arguments.length + 1);
    all[arguments.length] = last;
    return run(all);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "space=small|space=small: it is template or free",
        "O=2|O=2: it is 0 (template) or 1 (free) in the background, 65536 or 65537",
        "O=1 space=free|either space=free or O=1, not both"
      })
  void spacesAreNamedOnce(String arguments, String message) {
    assertThat(run(("tune gemm MNK=64 " + arguments).split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains(message).hasLineCount(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gemm MN=1024|no value for K; give K=...",
        "gemm MNK=0|M=0: it is a whole number from 1 to 1048576",
        "gemm MNK=64 M=3|two values for M",
        "gemm MNK=64 dtype=i4|dtype=i4: it is bf16, f16, tf32, f32, f64, e4m3, e5m2 or int8",
        "gemm MNK=64 stridea=5000|batch=1: one GEMM has no strides to another",
        "gemm MNK=64 batch=3 stridea=4000|3 matrices of 64 rows of 64 elements, 64 apart, overlap",
        "gemm MNK=64 batch=3 shared=b strideb=4096|strideb=4096: all GEMMs share this operand",
        "gemm MNK=64 batch=3 stridec=0|stridec=0: it is a whole number from 1",
        "gemm MNK=64 layout=xx|layout=xx: it is nt, nn, tn or tt",
        "gemm MNK=64 act=what|act=what: it is one of none, relu",
        "gemm MNK=64 alpha=big|alpha=big: it is a number",
        "gemm MNK=64 colour=red|there is no 'colour'",
        "gemm MNK|is no KEY=VALUE",
        "ffn MNK=64 colour=red|there is no 'colour'; known are M, D (or K), H (or N), gated",
        "ffn M=2 D=64|no value for H; give H=...",
        "ffn M=2 D=64 H=64 N=64|either H=64 or N=64, not both",
        "ffn M=2 D=65536 H=65536|a weight of more elements than 2^31 - 1",
        "ffn M=2 D=64 H=64 act=what|act=what: it is one of none, relu",
        "mlp M=2 widths=4,x|is no whole number from 1",
        "mlp widths=4,4|no value for rows; give rows=...",
        "mlp rows=2|no value for widths; give the inputs and each layer's outputs",
        "mlp rows=2 M=2 widths=4,4|either rows=2 or M=2, not both",
        "mlp rows=5000000 widths=4,4|rows=5000000: it is a whole number from 1 to 4194304",
        "mlp rows=4194304 widths=4,512|512 features of each are more elements than 2^31 - 1",
        "mlp rows=2 widths=4|at least two, inputs and outputs",
        "mlp rows=2 widths=4,4,4 act=what|act=what: it is one of relu, relu6,",
        "mlp rows=2 widths=4,4,4 act=prelu|act=prelu: it is one of relu, relu6,",
        "mlp rows=2 widths=4,4,4 act=relu,sin|2 activations for 1 hidden layers",
        "mlp rows=2 widths=4,4 dtype=e4m3|dtype=e4m3: it is f32, tf32, f16 or bf16",
        "mlp rows=2 widths=4,4 bias=2|bias=2: it is a whole number from 0 to 1",
        "mlp rows=2 widths=4,4 colour=red|there is no 'colour'; known are rows, widths, act",
        "nothing.onnx M=2|nothing.onnx: no such file",
        "--file nowhere.txt|nowhere.txt: no such file",
        "gemm MNK=64 --file x.txt|not both"
      })
  void badRequestsAreRefusedInOneLine(String arguments, String message) {
    for (String command : new String[] {"tune", "perf"}) {
      int code = run((command + " " + arguments).split(" "));
      assertThat(code).isEqualTo(ExitCode.USAGE);
      assertThat(err.toString(StandardCharsets.UTF_8)).contains(message).hasLineCount(1);
      assertThat(out.size()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "explain mlp rows=2 widths=4,x|is no whole number from 1",
        "explain nothing.onnx|nothing.onnx: no such file",
        "tune mlp rows=2 widths=4,4 O=65537|O=65537: a network has no free space to search",
        "tune mlp rows=2 widths=4,4 -o x|--out x: for GEMMs",
        "perf mlp rows=2 widths=4,4 --beside x|--cutlass and --beside are for GEMMs"
      })
  void badRequestsOfNetworksAreRefusedInOneLine(String arguments, String message) {
    assertThat(run(arguments.split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains(message).hasLineCount(1);
    assertThat(out.size()).isZero();
  }

  @Test
  void withoutProductsThereIsNothingToTune() {
    assertThat(run("tune", "gemm", "MN=64", "K=0", "beta=1")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("K=0: there is nothing to tune", "'perf gemm' runs and verifies it")
        .hasLineCount(1);
    Assumptions.assumeTrue(CudaDriver.find().isEmpty(), "there is a GPU here");
    // It takes the product, and would measure it.
    assertThat(run("perf", "gemm", "MN=64", "K=0", "beta=1", "--db", database("d.db")))
        .isEqualTo(ExitCode.DEVICE);
  }

  @Test
  void aTaskFileTellsWhichLineIsWrong() throws IOException {
    Path tasks = folder.resolve("tasks.txt");
    Files.writeString(tasks, "# squares\ngemm MNK=64\n\ngemm MN=64 # no K\n");
    assertThat(run("tune", "--file", tasks.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("tasks.txt, line 4: no value for K")
        .hasLineCount(1);
    Files.writeString(tasks, "# nothing\n");
    assertThat(run("perf", "--file", tasks.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("no task").hasLineCount(1);
  }

  @Test
  void withoutAGpuThereIsNothingToMeasureOn() {
    Assumptions.assumeTrue(CudaDriver.find().isEmpty(), "there is a GPU here");
    for (String command : new String[] {"tune", "perf"}) {
      assertThat(run(command, "mlp", "widths=4,4", "rows=2", "--db", database("d.db")))
          .isEqualTo(ExitCode.DEVICE);
      assertThat(run(command, "gemm", "MNK=64", "--db", database("d.db")))
          .isEqualTo(ExitCode.DEVICE);
      assertThat(err.toString(StandardCharsets.UTF_8))
          .contains("GEMMs, networks and attention are measured on a GPU: 'explain' predicts them")
          .hasLineCount(1);
    }
  }

  @Test
  void recordsGoFromOneDatabaseToAnother() {
    String lines = folder.resolve("records.jsonl").toString();
    assertThat(run("db", "export", lines, "--db", database("a.db"))).isEqualTo(ExitCode.OK);
    String exported = out.toString(StandardCharsets.UTF_8);
    // A new database begins with the records that come along, so there is nothing new in them.
    assertThat(exported).matches("[1-9][0-9]* records exported\\s*");
    assertThat(run("db", "import", lines, "--db", database("b.db"))).isEqualTo(ExitCode.OK);
    assertThat(out.toString(StandardCharsets.UTF_8)).startsWith("0 records imported");
    assertThat(run("db", "merge", database("a.db"), "--db", database("b.db")))
        .isEqualTo(ExitCode.OK);
    assertThat(out.toString(StandardCharsets.UTF_8)).startsWith("0 records merged");
    assertThat(run("db", "list", "--json", "--db", database("b.db"))).isEqualTo(ExitCode.OK);
    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains("\"workload\": \"gemm a=bf16 c=bf16 epilogue=none k=4096 layout=nt m=4096");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "what|it is list, export, import, merge, prune, stale, refresh or fit",
        "export|needs a file",
        "list x|takes no file",
        "import nowhere.jsonl|nowhere.jsonl: no such file",
        "merge nowhere.db|no such file",
        "prune --keep 0|at least 1"
      })
  void badUsesOfTheDatabaseAreRefusedInOneLine(String arguments, String message) {
    int code = run(("db " + arguments + " --db " + database("c.db")).split(" "));
    assertThat(code).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8).lines().toList().getLast()).contains(message);
  }
}
