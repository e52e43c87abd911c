package dev.warpwright.cli.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.run.TinyOnnx;
import dev.warpwright.runtime.launch.Gpu;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command {@code check}, on kernels and models. */
final class CheckCommandTest {
  private static final String RACE =
      "kernel race(y: f32[8]) grid(b = 1) block(t = 64) { y[0] = f32(t) }";
  private static final String CLEAN =
      """
      kernel copy(x: f32[n], y: f32[n], n: i32 in 1..4096) grid(b = (n + 31) / 32) block(t = 32) {
        if b * 32 + t < n {
          y[b * 32 + t] = x[b * 32 + t]
        }
      }
      """;

  @TempDir Path folder;
  private String out = "";
  private String err = "";

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

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  @Test
  void aRaceIsReportedWithItsLine() throws IOException {
    Path file = file("race.kernel", RACE);
    assertThat(execute("check", file, "--seed", 1)).as(err).isEqualTo(ExitCode.WRONG);
    assertThat(out).contains("race: data race: y[0]", "'y[0] = f32(t)'", "3 orders", "seed 1");
    assertThat(execute("check", file, "--seed", 1, "--json")).isEqualTo(ExitCode.WRONG);
    assertThat(out)
        .contains("\"kernel\": \"race\"", "\"kind\": \"data race\"", "\"element\": \"y[0]\"")
        .contains("\"line\": 2", "\"ok\": false");
  }

  @Test
  void acleanKernelIsCleanForEveryLength() throws IOException {
    Path file = file("copy.kernel", CLEAN);
    assertThat(execute("check", file, "n=50", "--schedules", 2, "--sms", 2)).isEqualTo(ExitCode.OK);
    assertThat(out).startsWith("checked copy for n=50 in 2 orders").contains("no findings");
  }

  @Test
  void aModelIsCheckedInEachPrecision() throws IOException {
    Path model = Files.write(folder.resolve("tiny.onnx"), TinyOnnx.relu().bytes());
    for (String precision : new String[] {"f32", "f16"}) {
      assertThat(execute("check", model, "--precision", precision, "--batch", 3, "--json"))
          .as(err)
          .isEqualTo(ExitCode.OK);
      assertThat(out).contains("\"rows\": 3", "\"findings\": []");
    }
  }

  @Test
  void requestsAreCountedByStatement() throws IOException {
    Path file = file("copy.kernel", CLEAN);
    assertThat(execute("check", file, "n=64", "--counters")).as(err).isEqualTo(ExitCode.OK);
    assertThat(out)
        .contains("copy on an H200 SXM", "us predicted; by its counters", "globalLoadRequests");
    // Two blocks of one warp each: 128 bytes are four sectors.
    assertThat(out.lines().map(String::strip))
        .anyMatch(line -> line.matches("3 +2 +8 +0 +global load: y\\[.*"));
  }

  /** Its workspace has a shape that depends on scalars other than the first. */
  @Test
  void aKernelOfSeveralScalarsIsCounted() {
    Path file = Path.of("..", "kernels", "ffn_bf16_sm90_m16.kernel");
    int code = execute("check", file, "M=16", "K1=256", "N1=1024", "N2=64", "--counters");
    assertThat(code).as(err).isEqualTo(ExitCode.OK);
    // 16 · 1024 · (256 + 64)
    assertThat(out)
        .contains("ffn_bf16_sm90_m16 on an H200 SXM")
        .containsPattern("matrixMultiplyAdds +5242880");
  }

  @Test
  void aRungIsCountedBesideItsBoundAndTime() {
    assertThat(execute("check", "ladder:vectorised", "M=256", "N=256", "K=256", "--counters"))
        .as(err)
        .isEqualTo(ExitCode.OK);
    assertThat(out).contains("matmul_vectorised on an H200 SXM", "bound", "sharedLoadConflicts");
  }

  @Test
  void smallProductsOfFamiliesAreClean() {
    assertThat(execute("check", "families:wgmma-few-rows", "--schedules", 1, "--seed", 1))
        .as(err)
        .isEqualTo(ExitCode.OK);
    assertThat(out).contains("wgmma_few_rows", "no findings");
    assertThat(execute("check", "families:mma_sync_tf32", "--counters"))
        .as(err)
        .isEqualTo(ExitCode.OK);
    assertThat(out).contains("mma_sync_tf32 on an H200 SXM", "matrix load: ldmatrix");
    assertThat(execute("check", "families:none")).isEqualTo(ExitCode.USAGE);
    assertThat(err).contains("there is no such sample", "mma-sync-nt-bf16");
  }

  @Test
  void mutantsAreWrittenAsProgramsButNotThoseThatAreRefused() throws IOException {
    Path file = file("copy.kernel", CLEAN);
    Path programs = folder.resolve("programs");
    assertThat(execute("check", file, "--mutants", 1, "--seed", 1, "--emit", programs))
        .as(err)
        .isEqualTo(ExitCode.OK);
    assertThat(out).contains("refused");
    assertThat(programs.resolve("copy_0.cu")).content().contains("mutant_0", "int main()");
  }

  @Test
  void withoutAGpuNothingIsCompared() throws IOException {
    Assumptions.assumeTrue(Gpu.find().isEmpty(), "there is a GPU");
    assertThat(execute("check", file("copy.kernel", CLEAN), "--gpu")).isEqualTo(ExitCode.DEVICE);
    assertThat(err.lines()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gemm MNK=64 dtype=bf16 | gemm: 'check families' checks small GEMMs of every kind; 'perf"
            + " gemm MNK=64 dtype=bf16' verifies the kernel of a shape, on a GPU",
        "gemm | 'perf gemm MNK=4096'",
        "ladder dtype=f64 | check takes rungs in f32; 'ladder --target sim dtype=f64' runs others",
        "model.onnx dtype=f16 | dtype=f16: a kernel's text has its types, a model takes --precision",
      })
  void whatAnotherCommandTakesIsNamed(String what, String message) {
    assertThat(execute(("check " + what.strip()).split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err).startsWith("warpwright: ").contains(message.strip());
    assertThat(err.lines()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    "n=0, n = 0: the kernel is for 1 to 4096",
    "m=1, m: there is no such scalar",
    "--sms=0, --sms 0: must be at least 1",
    "--gpu --counters, --gpu: neither with",
    "--schedules=0, --schedules 0: must be at least 1",
    "--attr=order=row, --attr order: kernel copy has only",
  })
  void whatIsWrongIsSaidInOneLine(String option, String what) throws IOException {
    Path file = file("copy.kernel", CLEAN);
    assertThat(
            execute(
                Stream.concat(Stream.of("check", file), Stream.of(option.split(" "))).toArray()))
        .isEqualTo(ExitCode.USAGE);
    assertThat(err).startsWith("warpwright: ").contains(what);
    assertThat(err.lines()).hasSize(1);
  }
}
