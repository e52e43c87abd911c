package dev.warpwright.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.command.VersionCommand;
import dev.warpwright.cli.devices.DevicesCommand;
import dev.warpwright.cli.devices.DevicesRequest;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.kernels.KernelCommand;
import dev.warpwright.cli.kernels.KernelRequest;
import dev.warpwright.cli.kernels.KernelRequest.Task;
import dev.warpwright.cli.kernels.KernelRequest.Timing;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.run.ModelRequest;
import dev.warpwright.cli.run.Output;
import dev.warpwright.cli.run.OutputFiles;
import dev.warpwright.cli.run.PlanCommand;
import dev.warpwright.cli.run.RunCommand;
import dev.warpwright.cli.run.RunRequest;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.workload.Precision;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CliTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final List<Object> requests = new ArrayList<>();

  private static final Report FINE = new Report(true, "fine", Json.object().with("fine", true));

  /** Performs a line where every command does what {@code action} does. */
  private int execute(Action<Object> action, String... args) {
    Action<Object> recording =
        (request, progress) -> {
          requests.add(request);
          return action.perform(request, progress);
        };
    var commands =
        List.of(
            new RunCommand(recording::perform),
            new PlanCommand(recording::perform),
            new KernelCommand(recording::perform),
            new DevicesCommand(recording::perform),
            new VersionCommand());
    return new Cli(stream(out), stream(err), commands).execute(args);
  }

  private int execute(String... args) {
    return execute((request, progress) -> FINE, args);
  }

  private static PrintStream stream(OutputStream to) {
    return new PrintStream(to, true, StandardCharsets.UTF_8);
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  private String err() {
    return err.toString(StandardCharsets.UTF_8);
  }

  @Test
  void runTakesEveryOptionOfTheContract() {
    int code =
        execute(
            ("run m.onnx --input x.npy --expect y.npy --target sm_90a --arch mlp:4,2,1:relu"
                    + " --precision bf16 --batch 17 --out z.npy --rtol 1e-3 --atol 0 --emit dir"
                    + " --seed 5 --time 2")
                .split(" "));
    assertThat(code).isEqualTo(ExitCode.OK);
    assertThat(out()).isEqualTo("fine" + System.lineSeparator());
    assertThat(requests)
        .containsExactly(
            new RunRequest(
                new ModelRequest(
                    Path.of("m.onnx"),
                    TargetName.SM_90A,
                    new Architecture.Mlp(List.of(4, 2, 1), List.of("relu")),
                    Precision.BF16,
                    OptionalInt.of(17),
                    Path.of("dir")),
                Path.of("x.npy"),
                5,
                new OutputFiles("--expect", List.of("y.npy")),
                new Output(new OutputFiles("--out", List.of("z.npy")), null),
                OptionalDouble.of(1e-3),
                OptionalDouble.of(0),
                2));
  }

  @Test
  void optionsHaveTheirDefaults() {
    var model =
        new ModelRequest(Path.of("m.onnx"), TargetName.AUTO, null, null, OptionalInt.empty(), null);
    assertThat(execute("run", "m.onnx", "--seed", "1")).isEqualTo(ExitCode.OK);
    assertThat(execute("plan", "m.onnx")).isEqualTo(ExitCode.OK);
    assertThat(execute("kernel", "k.kernel", "--seed", "2")).isEqualTo(ExitCode.OK);
    assertThat(execute("devices")).isEqualTo(ExitCode.OK);
    assertThat(requests)
        .containsExactly(
            new RunRequest(
                model,
                null,
                1,
                new OutputFiles("--expect", List.of()),
                new Output(new OutputFiles("--out", List.of()), null),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                0.1),
            model,
            new KernelRequest(
                Path.of("k.kernel"),
                Task.VERIFY,
                TargetName.AUTO,
                null,
                OptionalInt.empty(),
                Map.of(),
                Map.of(),
                2,
                new Timing(9, 0),
                null),
            new DevicesRequest());
  }

  @ParameterizedTest
  @CsvSource({
    "--print, PRINT",
    "--cuda, CUDA",
    "--compile, COMPILE",
    "--simulate, SIMULATE",
    "--run, RUN",
    "--bench, BENCH"
  })
  void kernelTasks(String option, Task task) {
    assertThat(
            execute(
                "kernel",
                "k",
                option,
                "--target",
                "sim",
                "--seed",
                "-7",
                "--batch",
                "3",
                "--set",
                "n=5"))
        .isEqualTo(ExitCode.OK);
    assertThat(requests)
        .containsExactly(
            new KernelRequest(
                Path.of("k"),
                task,
                TargetName.SIM,
                null,
                OptionalInt.of(3),
                Map.of("n", 5L),
                Map.of(),
                -7,
                new Timing(9, 0),
                null));
  }

  @Test
  void kernelsTakeValuesByLetter() {
    assertThat(
            execute(
                "kernel",
                "k",
                "MN=1024",
                "K=64",
                "T1=3",
                "--bench",
                "--attr",
                "order=hilbert",
                "--seed",
                "1",
                "--repeat-check",
                "10",
                "--rounds",
                "0"))
        .isEqualTo(ExitCode.OK);
    assertThat(requests)
        .containsExactly(
            new KernelRequest(
                Path.of("k"),
                Task.BENCH,
                TargetName.AUTO,
                null,
                OptionalInt.empty(),
                Map.of("M", 1024L, "N", 1024L, "K", 64L, "T1", 3L),
                Map.of("order", "hilbert"),
                1,
                new Timing(0, 10),
                null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "kernel k M",
        "kernel k M=x",
        "kernel k M=1 MN=2",
        "kernel k --repeat-check 5",
        "kernel k --bench --rounds 3"
      })
  void otherValuesAreRefused(String line) {
    assertThat(execute(line.split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(requests).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"run m", "plan m", "kernel k", "devices", "version"})
  void jsonIsOneDocumentAndNothingElse(String line) {
    Action<Object> action =
        (request, progress) -> {
          progress.say("working");
          return FINE;
        };
    assertThat(execute(action, (line + " --json").split(" "))).isEqualTo(ExitCode.OK);
    assertThat(out()).startsWith("{").endsWith("}" + System.lineSeparator());
    assertThat(out().lines()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--help",
        "run --help",
        "plan --help",
        "kernel --help",
        "devices --help",
        "version --help",
        "help",
        "help run"
      })
  void helpGoesToStandardOutput(String line) {
    assertThat(execute(line.split(" "))).isEqualTo(ExitCode.OK);
    assertThat(out()).startsWith("Usage: warpwright");
    assertThat(err()).isEmpty();
    assertThat(requests).isEmpty();
  }

  @Test
  void helpOfACommandIsWhatItSaysItself() {
    execute("run", "--help");
    String said = out();
    out.reset();
    execute("help", "run");
    assertThat(out()).isEqualTo(said).startsWith("Usage: warpwright run");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`` | a command is missing; see 'warpwright --help'",
        "fly | there is no 'fly'; see 'warpwright --help'",
        "help fly | there is no 'fly'; see 'warpwright --help'",
        "run | MODEL",
        "run m n | 'm': it is gemm, mlp",
        "run m --fast | there is no '--fast'; see 'warpwright run --help'",
        "run m --tagret cpu | there is no '--tagret'; is '--target' meant?; see",
        "rnu m | there is no 'rnu'; is 'run' meant?; see 'warpwright --help'",
        "run m --target gpu | 'gpu' is not one of auto, cpu, sim, sm_75",
        "run m --target sm_90 | sm_90a; take sm_90a",
        "run m --target A100 | A100 SXM 80 GB is sm_80",
        "run m --precision f8 | 'f8' is not one of f32, tf32, f16, bf16",
        "run m --batch 0 | --batch 0",
        "run m --batch many | 'many'",
        "run m --image 128x128 | --image 128x128: give --out",
        "run m --image 0x5 --out x.png | '0x5'",
        "run m --out x.png | --image WIDTHxHEIGHT",
        "run m --time -1 | --time -1.0",
        "run m --rtol -1 | --rtol -1.0",
        "run m --rtol NaN | --rtol NaN",
        "run m --atol Infinity | --atol Infinity",
        "run m --arch cnn | --arch 'cnn'",
        "plan m --input x.npy | --input",
        "kernel k --print --run | mutually exclusive",
        "kernel k --run --out x | --out x",
        "kernel k --batch -1 | --batch -1",
        "kernel k --seed x | 'x'",
        "devices all | 'all'",
      })
  void badUsageIsOneLine(String line, String message) {
    assertThat(execute(line.isEmpty() ? new String[0] : line.split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err()).startsWith("warpwright: ").contains(message);
    assertThat(err().lines()).hasSize(1);
    assertThat(out()).isEmpty();
    assertThat(requests).isEmpty();
  }

  @Test
  void aFailedCheckIsReportedAndExitsWithOne() {
    Action<Object> wrong =
        (request, progress) -> new Report(false, "wrong", Json.object().with("verified", false));
    assertThat(execute(wrong, "run", "m", "--json")).isEqualTo(ExitCode.WRONG);
    assertThat(out()).isEqualTo("{\"verified\": false}" + System.lineSeparator());
  }

  @Test
  void userErrorsExitWithTwo() {
    assertThat(failing(new UserError("m.onnx: node 'a\nb': no operator 'X'")))
        .isEqualTo(ExitCode.USAGE);
    assertThat(err())
        .isEqualTo("warpwright: m.onnx: node 'a\\nb': no operator 'X'" + System.lineSeparator());
  }

  @Test
  void fileErrorsExitWithTwo() {
    assertThat(failing(new UncheckedIOException(new NoSuchFileException("m.onnx"))))
        .isEqualTo(ExitCode.USAGE);
    assertThat(failing(new UncheckedIOException(new IOException("y.npy: No space left on device"))))
        .isEqualTo(ExitCode.USAGE);
    assertThat(err().lines())
        .containsExactly(
            "warpwright: m.onnx: no such file", "warpwright: y.npy: No space left on device");
  }

  @Test
  void deviceErrorsExitWithThree() {
    assertThat(failing(new DeviceError("no CUDA driver"))).isEqualTo(ExitCode.DEVICE);
    assertThat(err()).isEqualTo("warpwright: no CUDA driver" + System.lineSeparator());
  }

  @Test
  void ourOwnErrorsExitWithThreeAndSayHowToSeeWhere() {
    String long500 = "lost".repeat(500);
    assertThat(failing(new IllegalStateException(long500))).isEqualTo(ExitCode.DEVICE);
    assertThat(err()).contains("bug", "lost", "WARPWRIGHT_TRACE=1");
    assertThat(err().lines()).hasSize(1);
    assertThat(err()).hasSizeLessThan(600);
    assertThat(out()).isEmpty();
  }

  @Test
  void whatIsNestedTooDeeplyIsRefused() {
    int code =
        execute(
            (request, progress) -> {
              throw new StackOverflowError();
            },
            "devices");
    assertThat(code).isEqualTo(ExitCode.USAGE);
    assertThat(err()).isEqualTo("warpwright: nested too deeply to be read or compiled\n");
  }

  @Test
  void aMappedFileThatIsCutOffIsRefused() {
    int code =
        execute(
            (request, progress) -> {
              throw new InternalError("a fault occurred in an unsafe memory access operation");
            },
            "devices");
    assertThat(code).isEqualTo(ExitCode.USAGE);
    assertThat(err()).contains("cut off");
    assertThat(err().lines()).hasSize(1);
  }

  private int failing(RuntimeException error) {
    return execute(
        (request, progress) -> {
          throw error;
        },
        "devices");
  }

  @Test
  void aFullDiskIsNoSuccess() {
    var full =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("No space left on device");
          }
        };
    var cli = new Cli(stream(full), stream(err), List.of(new VersionCommand()));
    assertThat(cli.execute("version", "--json")).isEqualTo(ExitCode.USAGE);
    assertThat(err()).contains("cannot write to standard output");
  }
}
