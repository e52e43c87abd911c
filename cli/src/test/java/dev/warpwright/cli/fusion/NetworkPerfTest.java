package dev.warpwright.cli.fusion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.networks.NetworkRequest;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.target.GpuTarget;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** A whole network on a GPU at the driver's boundary: what is verified, timed and told. */
@Isolated("takes the driver's place in this process")
final class NetworkPerfTest {
  private static final double MICROS = 500_000;

  @TempDir private Path folder;

  private final List<String> said = new ArrayList<>();
  private final NetworkTask task =
      NetworkTask.of(
          "mlp",
          new KeyValues(List.of("widths=16,16,5", "rows=20", "dtype=tf32", "bias=1", "seed=3")),
          null);
  private FakeGpu gpu;
  private Kernel only;
  private String kernel;

  @BeforeEach
  void install() {
    gpu = FakeGpu.install();
    only =
        new NetworkCandidates(task, GpuTarget.SM_80)
            .make(NetworkCandidates.OLD)
            .orElseThrow()
            .program()
            .program()
            .kernels()
            .getFirst();
    kernel = CudaPrinter.functionName(only);
    gpu.knows(only).takes(kernel, MICROS);
  }

  @AfterEach
  void close() {
    gpu.close();
  }

  private Report perform() {
    return new NetworkPerf()
        .perform(
            new NetworkRequest(List.of(task), folder.resolve("tuning.db"), 5, true, false),
            said::add);
  }

  private static double number(Json json, String name) {
    return Double.parseDouble(((Json.Number) member(json, name)).written());
  }

  private static Json member(Json json, String name) {
    return java.util.Objects.requireNonNull(((Json.Members) json).members().get(name), name);
  }

  @Test
  void theWholeOutputIsVerifiedAndTimesAreThoseOfTheDevice() {
    Report report = perform();
    assertThat(report.code()).as(report.text()).isEqualTo(ExitCode.OK);
    assertThat(report.text())
        .contains("mlp widths=16,16,5 act=relu bias=1 dtype=tf32 rows=20 seed=3 on Fake GPU")
        .contains("verified over all 20 rows")
        .contains("shared chaining: untuned: activations of");
    Json json = report.json();
    assertThat(number(json, "timeUs")).isCloseTo(MICROS, within());
    assertThat(number(json, "sustainedUs")).isCloseTo(MICROS, within());
    assertThat(number(json, "relError")).isBetween(1e-6, 4e-3);
    assertThat(number(json, "tflops") * MICROS * 1e6)
        .isCloseTo(2.0 * 20 * (16 * 16 + 16 * 5), within());
    assertThat(member(json, "verified")).isEqualTo(Json.of(true));
    assertThat(member(json, "strategy")).isEqualTo(Json.of("shared chaining"));
    assertThat(number(json, "sets")).isEqualTo(2);
    assertThat(gpu.liveBuffers()).isZero();
  }

  private static org.assertj.core.data.Offset<Double> within() {
    return org.assertj.core.data.Offset.offset(0.01);
  }

  /** What a worker process does, in this one. */
  @Test
  void aWorkerVerifiesAndTimesAnAlternativeByItsNumber() throws CandidateFailure {
    NetworkCandidates candidates = new NetworkCandidates(task, GpuTarget.SM_80);
    NetworkRunner runner = new NetworkRunner(task, GpuTarget.SM_80, candidates);
    List<String> names = candidates.names();
    Map<String, Long> first = NetworkRunner.values(names, names.getFirst());
    assertThat(runner.compile(only, first)).hasSize(64);
    Outcome.Measured measured = runner.time(only, first);
    assertThat(measured.timeUs()).isCloseTo(MICROS, within());
    assertThat(measured.relError()).isBetween(1e-6, 4e-3);
    assertThatThrownBy(() -> runner.compile(only, NetworkRunner.values(names, "no way")))
        .isInstanceOfSatisfying(
            CandidateFailure.class, e -> assertThat(e.reason()).isEqualTo(FailureReason.REJECTED));
    gpu.skips(kernel);
    assertThatThrownBy(() -> runner.time(only, first))
        .isInstanceOfSatisfying(
            CandidateFailure.class, e -> assertThat(e.reason()).isEqualTo(FailureReason.WRONG));
    gpu.faults(kernel);
    assertThatThrownBy(() -> runner.time(only, first))
        .isInstanceOfSatisfying(
            CandidateFailure.class,
            e -> {
              assertThat(e.reason()).isEqualTo(FailureReason.FAULT);
              assertThat(e.poisoned()).isTrue();
            });
  }

  @Test
  void whatIsNotWrittenIsWrong() {
    gpu.skips(kernel);
    Report report = perform();
    assertThat(report.code()).isEqualTo(ExitCode.WRONG);
    assertThat(report.text())
        .contains("100 elements are not finite or were never written, the first at [0, 0]");
    assertThat(report.json().write()).contains("\"verified\": false").doesNotContain("timeUs");
  }
}
