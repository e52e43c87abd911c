package dev.warpwright.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.model.npy.NpyFile;
import dev.warpwright.runtime.cuda.CudaDriver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The whole command, on files and options that are wrong in every way we know. */
final class BadInputTest {
  private static final String HOSTILE =
      "\"'`}\n#include \"/etc/passwd\"\r\u2028*/ __global__ void evil() {} // \\ ${x} \u001b[31m ;";

  @TempDir Path folder;
  private Path model = Path.of("");
  private String out = "";
  private String err = "";

  @BeforeEach
  void writeModel() throws IOException {
    model = write("tiny.onnx", TinyOnnx.relu().bytes());
  }

  private Path write(String name, byte[] bytes) throws IOException {
    return Files.write(folder.resolve(name), bytes);
  }

  private Path array(String name, List<Long> shape, float... values) {
    Path file = folder.resolve(name);
    NpyFile.write(file, shape, values);
    return file;
  }

  /** An input of two rows. */
  private Path input() {
    return array("x.npy", List.of(2L, 4L), 1, -1, 2, -2, 1, 1, 1, 1);
  }

  private int execute(Object... args) {
    var outBytes = new ByteArrayOutputStream();
    var errBytes = new ByteArrayOutputStream();
    int code =
        Main.execute(
            new PrintStream(outBytes, true, StandardCharsets.UTF_8),
            new PrintStream(errBytes, true, StandardCharsets.UTF_8),
            Arrays.stream(args).map(String::valueOf).toArray(String[]::new));
    out = outBytes.toString(StandardCharsets.UTF_8);
    err = errBytes.toString(StandardCharsets.UTF_8);
    return code;
  }

  /** Executes what must be refused in one line that says {@code what}. */
  private void refused(String what, Object... args) {
    assertThat(execute(args)).as(err).isEqualTo(ExitCode.USAGE);
    assertThat(err).startsWith("warpwright: ").contains(what).doesNotContain("bug in warpwright");
    assertThat(err.lines()).hasSize(1);
    assertThat(out).isEmpty();
  }

  private Object[] runOnCpu(Object... more) {
    List<Object> args = new ArrayList<>(List.of("run", model, "--target", "cpu"));
    args.addAll(List.of(more));
    return args.toArray();
  }

  private List<String> files() {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.map(file -> folder.relativize(file).toString()).sorted().toList();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aRightModelRuns() {
    assertThat(execute(runOnCpu("--input", input(), "--time", "0"))).as(err).isEqualTo(ExitCode.OK);
    assertThat(out).contains("verified");
  }

  @Test
  void noFile() {
    refused("no such file", "run", folder.resolve("no.onnx"), "--target", "cpu");
    refused("no such file", "plan", folder.resolve("no.onnx"));
    refused("no such file", "kernel", folder.resolve("no.kernel"));
    refused("no such file", runOnCpu("--input", folder.resolve("no.npy")));
    refused("no such file", runOnCpu("--input", input(), "--expect", folder.resolve("no.npy")));
  }

  @Test
  void aFolder() {
    refused("is a folder", "run", folder, "--target", "cpu");
    refused("is a folder", runOnCpu("--input", folder));
    refused("is a folder", "kernel", folder);
  }

  @Test
  void aFileThatMayNotBeRead() throws IOException {
    Files.setPosixFilePermissions(model, java.util.Set.of());
    assumeFalse(Files.isReadable(model), "this user may read everything");
    refused("permission denied", runOnCpu());
  }

  @Test
  void everyTruncation() throws IOException {
    byte[] whole = TinyOnnx.relu().bytes();
    for (int length = 0; length < whole.length; length++) {
      model = write("cut.onnx", Arrays.copyOf(whole, length));
      int code = execute(runOnCpu("--time", "0"));
      assertThat(code).as("%d bytes: %s", length, err).isEqualTo(ExitCode.USAGE);
      assertThat(err.lines()).hasSize(1);
    }
  }

  @Test
  void corruptedBytes() throws IOException {
    byte[] whole = TinyOnnx.relu().bytes();
    for (long seed = 1; seed <= 150; seed++) {
      Random random = new Random(seed);
      byte[] bytes = whole.clone();
      for (int i = 0; i <= random.nextInt(3); i++) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      model = write("corrupt.onnx", bytes);
      // A changed weight is still a model; nothing may be our own fault.
      int code = execute(runOnCpu("--time", "0", "--seed", seed));
      assertThat(code)
          .as("seed %d: %s", seed, err)
          .isIn(ExitCode.OK, ExitCode.WRONG, ExitCode.USAGE);
      assertThat(err.lines().count()).as("seed %d: %s", seed, err).isLessThanOrEqualTo(1);
    }
  }

  @Test
  void anOperatorThatIsNotSupported() throws IOException {
    model = write("conv.onnx", new TinyOnnx("Conv", "layer", 1).bytes());
    refused("'layeract'", runOnCpu());
    assertThat(err).contains("Conv");
  }

  @Test
  void inputsOfAnotherShapeOrType() throws IOException {
    Path wide = array("wide.npy", List.of(2L, 5L), new float[10]);
    refused("[2, 5]", runOnCpu("--input", wide));
    Path flat = array("scalar.npy", List.of(), 1);
    refused("has the shape []", runOnCpu("--input", flat));
    refused("rows of 3 features", runOnCpu("--input", input(), "--expect", wide));
    Path few = array("few.npy", List.of(1L, 3L), new float[3]);
    refused("2 rows of 3 features", runOnCpu("--input", input(), "--expect", few));
    byte[] header =
        ("\u0093NUMPY\u0001\u0000F\u0000"
                + "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 4), }         \n")
            .getBytes(StandardCharsets.ISO_8859_1);
    header[8] = (byte) (header.length - 10);
    ByteBuffer ints = ByteBuffer.allocate(header.length + 16).order(ByteOrder.LITTLE_ENDIAN);
    Path numbers = write("ints.npy", ints.put(header).array());
    refused("holds i4", runOnCpu("--input", numbers));
    refused("is no .npy file", runOnCpu("--input", model));
    refused("is a NumPy array", "run", input(), "--target", "cpu");
  }

  @Test
  void inputsThatAreNotFinite() {
    Path nan = array("nan.npy", List.of(2L, 4L), 1, 2, 3, 4, 5, Float.NaN, 7, 8);
    assertThat(execute(runOnCpu("--input", nan, "--time", "0"))).isEqualTo(ExitCode.WRONG);
    assertThat(err.lines()).hasSize(1);
    assertThat(err).contains("nan.npy: 1 of 8 elements is NaN or infinite, the first at [1, 1]");
    assertThat(out).contains("WRONG", "NaN");
  }

  @Test
  void anExpectedOutputWithNanProvesNothing() {
    Path nan = array("y.npy", List.of(2L, 3L), 1, 2, 3, 4, Float.NaN, 6);
    assertThat(execute(runOnCpu("--input", input(), "--expect", nan, "--time", "0")))
        .isEqualTo(ExitCode.WRONG);
    assertThat(out).contains("the right output has 1 NaN");
    assertThat(execute(runOnCpu("--input", input(), "--expect", nan, "--json", "--time", "0")))
        .isEqualTo(ExitCode.WRONG);
    assertThat(out).contains("\"verified\": false");
  }

  @Test
  void aWrongExpectedOutput() {
    Path wrong = array("y.npy", List.of(2L, 3L), 1, 2, 3, 4, 5, 6);
    assertThat(execute(runOnCpu("--input", input(), "--expect", wrong, "--time", "0")))
        .isEqualTo(ExitCode.WRONG);
    assertThat(out).contains("WRONG: relative error");
    assertThat(err).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY})
  void weightsThatAreNotFinite(float weight) throws IOException {
    model = write("weights.onnx", new TinyOnnx("Relu", "n", weight).bytes());
    execute(runOnCpu("--input", input(), "--time", "0"));
    assertThat(err.lines()).hasSize(1);
    assertThat(err).contains("weight 'nW' has the element " + (double) weight);
    assertThat(execute("plan", model.toString(), "--target", "cpu")).isEqualTo(ExitCode.OK);
    assertThat(err).contains("weight 'nW' has the element " + (double) weight);
  }

  @Test
  void hostileNamesReachNothing() throws IOException {
    model = write("hostile.onnx", new TinyOnnx("Relu", HOSTILE, 1).bytes());
    assertThat(execute(runOnCpu("--input", input(), "--json", "--time", "0")))
        .as(err)
        .isEqualTo(ExitCode.OK);
    assertThat(out.lines()).hasSize(1);
    assertThat(out).contains("\"verified\": true").doesNotContain("\u001b");
    Path emitted = folder.resolve("emitted");
    assertThat(execute("plan", model, "--target", "sm_90a", "--emit", emitted))
        .as(err)
        .isEqualTo(ExitCode.OK);
    assertThat(out).doesNotContain("\u001b", "\r");
    assertThat(emitted.resolve("3-kernel-1-02-BarrierInsertion.ir")).exists();
    String cuda = Files.readString(emitted.resolve("5-kernels.cu"));
    assertThat(cuda).doesNotContain("\u001b", "\u2028");
    assertThat(cuda.lines().filter(line -> !line.strip().startsWith("//")))
        .noneMatch(line -> line.contains("evil") || line.contains("passwd"));
    assertThat(execute("kernel", emitted.resolve("4-program.ir"), "--simulate", "--batch", "3"))
        .as(err + out)
        .isEqualTo(ExitCode.OK);
    model = write("hostile-conv.onnx", new TinyOnnx("Conv", HOSTILE, 1).bytes());
    refused("Conv", runOnCpu());
    assertThat(err).doesNotContain("\u001b", "\r", "\u2028");
  }

  @Test
  void hostileNamesCompile() throws IOException {
    assumeTrue(CudaCompilers.system().isPresent(), "no CUDA compiler: neither NVRTC nor nvcc");
    model = write("hostile.onnx", new TinyOnnx("Relu", HOSTILE, 1).bytes());
    assertThat(execute("run", model, "--target", "sm_90a")).as(err).isEqualTo(ExitCode.OK);
  }

  @Test
  void noDevice() {
    assumeTrue(CudaDriver.find().isEmpty(), "there is a GPU");
    Path y = array("y.npy", List.of(2L, 3L), new float[6]);
    for (String wants : List.of("--expect", "--out")) {
      assertThat(execute("run", model, "--target", "sm_90a", "--input", input(), wants, y))
          .isEqualTo(ExitCode.DEVICE);
      assertThat(err.lines()).hasSize(1);
      assertThat(err.strip()).endsWith("; use --target auto or cpu");
      assertThat(out).isEmpty();
    }
    boolean compiles = CudaCompilers.system().isPresent();
    assertThat(execute("run", model, "--target", "sm_90a"))
        .isEqualTo(compiles ? ExitCode.OK : ExitCode.DEVICE);
    assertThat(err.lines()).hasSize(1);
    assertThat(err).contains(compiles ? "compiled only, not run" : "no CUDA compiler");
  }

  @Test
  void outputsThatCannotBeWritten() throws IOException {
    refused("there is no folder", runOnCpu("--out", folder.resolve("no/y.npy")));
    refused("it is a folder", runOnCpu("--out", folder));
    refused("no folder", runOnCpu("--emit", model));
    Path device = Path.of("/dev/full");
    if (Files.exists(device)) {
      refused("No space left", runOnCpu("--out", device, "--time", "0"));
    }
    assertThat(files()).containsExactly("", "tiny.onnx");
  }

  @Test
  void outputsAreWhole() {
    Path y = folder.resolve("y.npy");
    assertThat(execute(runOnCpu("--input", input(), "--out", y, "--time", "0")))
        .isEqualTo(ExitCode.OK);
    assertThat(NpyFile.read(y).shape()).containsExactly(2L, 3L);
    assertThat(NpyFile.read(y).toFloats()[0]).isEqualTo(0f);
    assertThat(files()).containsExactly("", "tiny.onnx", "x.npy", "y.npy");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--batch 0 | --batch 0",
        "--batch -3 | --batch -3",
        "--batch 2000000000 | 2000000000 rows",
        "--batch 2147483647 | at most 2000000000",
        "--batch 100000000000 | 100000000000",
        "--precision tf32 | tf32 exists on GPUs only",
        "--arch mlp:4,3 | leave --arch out",
        "--out p.png --image 9x9 | 81 pixels, the output has 64 rows",
        "--target sm_75 --precision bf16 | sm_75 has no bf16",
      })
  void optionsThatDoNotFit(String options, String what) {
    List<Object> args = new ArrayList<>(List.of("run", model));
    if (!options.contains("--target")) {
      args.addAll(List.of("--target", "cpu"));
    }
    args.addAll(List.of(options.split(" ")));
    int code = execute(args.toArray());
    assertThat(code).as(err).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains(what).doesNotContain("bug in warpwright");
    assertThat(out).isEmpty();
  }

  @Test
  void aBatchBeyondTheInput() {
    refused("has only 2 rows", runOnCpu("--input", input(), "--batch", "3"));
  }

  @Test
  void aBatchOfPartOfTheInputIsSaid() {
    assertThat(execute(runOnCpu("--input", input(), "--batch", "1", "--time", "0"))).isZero();
    assertThat(err).contains("--batch 1: the first of 2 rows of " + input());
    assertThat(execute(runOnCpu("--input", input(), "--batch", "2", "--time", "0"))).isZero();
    assertThat(err).doesNotContain("--batch");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--print", "--cuda", "--simulate", "--run"})
  void scalarsThatAKernelDoesNotHave(String task) throws IOException {
    Path file =
        write(
            "k.kernel",
            "kernel k(y: f32[N], N: i32 in 1..8) grid(b = 1) block(t = 1) { y[0] = 1.0f32 }"
                .getBytes(StandardCharsets.UTF_8));
    List<Object> args = new ArrayList<>(List.of("kernel", file, "XYZ=4"));
    if (!task.isEmpty()) {
      args.add(task);
    }
    refused("XYZ: " + file + " has no such scalar; there are N", args.toArray());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kernel k( | k.kernel:1:10: expected",
        "primfunc f() { x[0] = 1 } | k.kernel:1:16",
        "hello | expected 'primfunc', 'kernel'",
      })
  void textThatIsNoKernel(String text, String what) throws IOException {
    Path file = write("k.kernel", text.getBytes(StandardCharsets.UTF_8));
    refused(what, "kernel", file);
  }

  @Test
  void aKernelThatBreaksARule() throws IOException {
    Path file =
        write(
            "k.kernel",
            "kernel k(y: f32[8]) grid(b = 1) block(t = 8) { y[t, 0] = 1.0f32 }"
                .getBytes(StandardCharsets.UTF_8));
    int code = execute("kernel", file);
    assertThat(code).as(out + err).isIn(ExitCode.WRONG, ExitCode.USAGE);
    assertThat(out + err).doesNotContain("bug in warpwright");
  }

  @Test
  void aKernelWithARace() throws IOException {
    Path file =
        write(
            "k.kernel",
            "kernel k(y: f32[8]) grid(b = 1) block(t = 64) { y[0] = f32(t) }"
                .getBytes(StandardCharsets.UTF_8));
    assertThat(execute("kernel", file, "--simulate")).as(err).isEqualTo(ExitCode.WRONG);
    assertThat(out).contains("data race", "y[0] = f32(t)");
  }
}
