package dev.warpwright.cli.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.networks.NetworkExplainRequest;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.fusion.Verdict;
import dev.warpwright.measure.network.NetworkError;
import dev.warpwright.measure.network.NetworkResult;
import dev.warpwright.measure.network.NetworkTimes;
import dev.warpwright.measure.timing.Quantiles;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.verify.NetworkBounds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class NetworkExplainTest {
  private static final DeviceModel H200 = DeviceCatalogue.find("H200 SXM").orElseThrow();

  private static NetworkTask task(String widths) {
    return NetworkTask.of(
        "mlp", new KeyValues(List.of("widths=" + widths, "rows=1048576", "dtype=f16")), null);
  }

  private static NetworkExplanation.Row row(
      String name, double predicted, double tiles, @Nullable NetworkResult result) {
    return new NetworkExplanation.Row(
        name, new NetworkFacts(predicted, 268.5e6, tiles, 80, 32824, 0, 24, 0.375, 0.0), result);
  }

  private static NetworkResult measured(String name, double us) {
    return new NetworkResult(
        name,
        null,
        new NetworkError(4e-4, 1e-3, 0.2, "[0, 0]", 0),
        new NetworkTimes(Quantiles.of(us), us + 10),
        null);
  }

  private static NetworkExplanation explanation(boolean gpu, List<NetworkExplanation.Row> rows) {
    NetworkTask task = task("64,64,64,64,64");
    return new NetworkExplanation(
        task,
        "NVIDIA H200",
        gpu,
        NetworkBounds.of(task.graph(), task.precision(), task.rows(), H200),
        rows);
  }

  @Test
  void measuredItIsATableAndASentence() {
    String fast = "register chaining consumers=5";
    Report report =
        explanation(
                true,
                List.of(
                    row(
                        "register chaining consumers=6",
                        71,
                        272.8e6,
                        measured("register chaining consumers=6", 84)),
                    row(fast, 71, 272.8e6, measured(fast, 80)),
                    row(
                        "register chaining consumers=7",
                        71,
                        272.8e6,
                        new NetworkResult(
                            "register chaining consumers=7",
                            null,
                            null,
                            null,
                            new Outcome.Failed(FailureReason.SPILL, "12 bytes"))),
                    row("shared chaining", 107, 805.3e6, measured("shared chaining", 228))))
            .report();
    assertThat(report.code()).isEqualTo(ExitCode.OK);
    assertThat(report.text().lines().toList())
        .containsExactly(
            "mlp widths=64,64,64,64,64 act=relu bias=0 dtype=f16 rows=1048576 seed=1 on NVIDIA"
                + " H200",
            "                                      us  bound memory MB     SM MB  regs  shared"
                + " spills    warps an SM  conflicts",
            "register chaining consumers=5       80.0   1.43     268.5     272.8    80   32824     "
                + " 0       24 (38%)          0",
            "register chaining consumers=6       84.0   1.50     268.5     272.8    80   32824     "
                + " 0       24 (38%)          0",
            "shared chaining                    228.0   4.08     268.5     805.3    80   32824     "
                + " 0       24 (38%)          0",
            "register chaining consumers=7 spill: 12 bytes",
            "bound 55.93 us (bytes 55.93, multiply-adds 34.74, special functions 0.00)",
            "register chaining consumers=5 wins at 1.43 times its bound by bytes; shared chaining"
                + " takes 2.85 times as long and moves 2.95 times the bytes to and from the SMs;"
                + " next of its kind, 5.0% slower, is the one with consumers=6");
  }

  @Test
  void predictedItSaysSoAndKeepsTheCompilersOrder() {
    Report report =
        explanation(
                false,
                List.of(
                    row("register chaining consumers=6", 71.2, 272.8e6, null),
                    row("register chaining consumers=5", 70.9, 272.8e6, null)))
            .report();
    assertThat(report.text())
        .contains("times are predicted, nothing was measured")
        .contains("register chaining consumers=6 should win at")
        .contains("the model does not tell it from others of its kind");
    assertThat(report.json().write()).contains("\"measured\": false").doesNotContain("timeUs");
  }

  @Test
  void wrongResultsAreNotPassedOver() {
    NetworkResult wrong =
        new NetworkResult(
            "shared chaining",
            null,
            new NetworkError(1, 1, 100, "[0, 0]", 0),
            null,
            new Outcome.Failed(FailureReason.WRONG, "the result is wrong"));
    Report report =
        explanation(
                true,
                List.of(
                    row("register chaining", 71, 1e6, measured("register chaining", 80)),
                    row("shared chaining", 107, 1e6, wrong)))
            .report();
    assertThat(report.code()).isEqualTo(ExitCode.WRONG);
    assertThat(report.text()).contains("shared chaining   wrong: the result is wrong");
  }

  @Test
  void boundsAreThoseOfBytesProductsAndSpecialFunctions() {
    NetworkTask sine =
        NetworkTask.of(
            "mlp",
            new KeyValues(
                List.of("widths=3,64,64,64,64,4", "rows=1048576", "dtype=f16", "act=sin")),
            null);
    NetworkBounds bounds = NetworkBounds.of(sine.graph(), sine.precision(), sine.rows(), H200);
    assertThat(bounds.by()).isEqualTo("special functions");
    assertThat(bounds.specials()).isEqualTo(1048576.0 * 4 * 64);
    // Inputs, outputs and weights once.
    assertThat(bounds.bytes()).isEqualTo(2.0 * (1048576.0 * 7 + 3 * 64 + 3 * 64 * 64 + 64 * 4));
    assertThat(bounds.flops()).isEqualTo(2.0 * 1048576 * (3 * 64 + 3 * 64 * 64 + 64 * 4));
    assertThat(NetworkBounds.of(sine.graph(), sine.precision(), 256, null).text())
        .isEqualTo("no bound is known for this device");
  }

  @ParameterizedTest
  @CsvSource({
    "relu, 0",
    "relu6, 0",
    "hardswish, 0",
    "identity, 0",
    "sin, 1",
    "tanh, 1",
    "sigmoid, 1",
    "silu, 1",
    "gelu, 1",
    "gelu_tanh, 1",
    "erf, 1",
    "softplus, 2",
    "selu, 1"
  })
  void whatAnActivationTakesOfSpecialFunctionsFollowsFromItsFormula(String activation, int each) {
    NetworkTask task =
        NetworkTask.of(
            "mlp",
            new KeyValues(List.of("widths=8,16,4", "rows=32", "dtype=f16", "act=" + activation)),
            null);
    assertThat(NetworkBounds.of(task.graph(), task.precision(), 32, H200).specials())
        .isEqualTo(32.0 * 16 * each);
  }

  /** Everything that needs no GPU: kernels, traffic, bank conflicts by the simulator. */
  @Test
  void withoutAGpuItIsPredicted() {
    List<String> said = new ArrayList<>();
    NetworkTask small =
        NetworkTask.of(
            "mlp", new KeyValues(List.of("widths=16,16,16", "rows=300", "dtype=f16")), null);
    Report report =
        new NetworkExplain(
                Optional::empty,
                (task, programs, library, rounds, sustained, progress) -> {
                  throw new AssertionError("there is no GPU");
                })
            .perform(
                new NetworkExplainRequest(
                    small, DeviceCatalogue.find("A100 SXM 80 GB").orElseThrow()),
                said::add);
    assertThat(report.code()).as(report.text()).isEqualTo(ExitCode.OK);
    assertThat(said)
        .singleElement()
        .asString()
        .contains("times are predicted for an A100 SXM 80 GB");
    Json.Members json = (Json.Members) report.json();
    assertThat(json.members().get("winner").write()).startsWith("\"register chaining warps=");
    Json.Array alternatives = (Json.Array) json.members().get("alternatives");
    Json.Members only =
        (Json.Members) java.util.Objects.requireNonNull(alternatives).items().getFirst();
    assertThat(only.members().keySet())
        .contains("predictedUs", "dramBytes", "tileBytes", "occupancy", "sharedBytes");
    assertThat(only.members().get("conflicts")).isInstanceOf(Json.Number.class);
  }

  /** What no kernel computes alone is a row for each of the kernels that do it together. */
  @Test
  void aWideBlockIsARowForEachOfItsKernels() {
    NetworkTask block =
        NetworkTask.of("ffn", new KeyValues(List.of("M=16", "D=1040", "H=2064", "gated=1")), null);
    Report report =
        new NetworkExplain(
                Optional::empty,
                (task, programs, library, rounds, sustained, progress) -> {
                  throw new AssertionError("there is no GPU");
                })
            .perform(new NetworkExplainRequest(block, H200), line -> {});
    assertThat(report.code()).as(report.text()).isEqualTo(ExitCode.OK);
    assertThat(report.text())
        .contains("instead of each GEMM by itself: 4 launches")
        .contains("chosen:")
        .contains("bound ");
    Json.Members json = (Json.Members) report.json();
    Json.Array kernels =
        (Json.Array) java.util.Objects.requireNonNull(json.members().get("kernels"));
    assertThat(kernels.items()).hasSize(2);
    Json.Members first = (Json.Members) kernels.items().getFirst();
    // Both projections, x and the hidden features.
    assertThat(Double.parseDouble(((Json.Number) first.members().get("bytes")).written()))
        .isEqualTo(2.0 * (2 * 1040 * 2064 + 16 * 1040 + 16 * 2064));
    assertThat(first.members().keySet()).contains("waves", "blocks", "threads", "sharedBytes");
  }

  /** What is extrapolated from two small launches is what a large one loses. */
  @Test
  void bankConflictsOfManyRowsFollowFromThoseOfFew() {
    NetworkTask some =
        NetworkTask.of(
            "mlp", new KeyValues(List.of("widths=16,16,16", "rows=1024", "dtype=f16")), null);
    DeviceModel device = DeviceCatalogue.find("A100 SXM 80 GB").orElseThrow();
    NetworkCandidates.Made made =
        new NetworkCandidates(some, device.target()).make("shared chaining").orElseThrow();
    double whole = NetworkFacts.lost(made, 1024, device);
    assertThat(whole).isPositive();
    assertThat(NetworkFacts.conflicts(made, 1024, device)).isEqualTo(whole);
  }

  /** A program for all of the rows is not launched small: nothing is counted, and not for hours. */
  @Test
  void gemmsOfLayersArePredictedByTheirModelsAndNotCounted() {
    NetworkTask wide =
        NetworkTask.of(
            "mlp", new KeyValues(List.of("widths=512,512,512", "rows=65536", "dtype=f16")), null);
    DeviceModel device = DeviceCatalogue.find("H200 SXM").orElseThrow();
    NetworkCandidates.Made made =
        new NetworkCandidates(wide, device.target()).make("GEMM per layer").orElseThrow();
    assertThat(NetworkFacts.conflicts(made, 65536, device)).isNull();
    // Two GEMMs of 61 us measured alone.
    assertThat(NetworkFacts.of(made, 65536, device, null, null).predictedUs())
        .isBetween(100.0, 135.0);
  }

  /** One network, one expectation: the planner's, which plan prints too. */
  @Test
  void predictedIsWhatThePlannerExpects() {
    NetworkTask narrow =
        NetworkTask.of(
            "mlp", new KeyValues(List.of("widths=64,64,64,64", "rows=65536", "dtype=f16")), null);
    DeviceModel device = DeviceCatalogue.find("H200 SXM").orElseThrow();
    Map<String, Double> expected =
        NetworkCompiler.expected(narrow.graph(), device, narrow.precision(), narrow.rows());
    NetworkCompiler.judged(
            narrow.graph(), (GpuTarget) device.target(), narrow.precision(), narrow.rows())
        .forEach(
            (strategy, verdict) -> {
              Double said = expected.get(strategy);
              if (said != null) {
                assertThat(verdict)
                    .isInstanceOfSatisfying(
                        Verdict.Fires.class, fires -> assertThat(said).isEqualTo(fires.micros()));
              }
            });
    assertThat(expected).containsKey("shared chaining");
    NetworkCandidates.Made made =
        new NetworkCandidates(narrow, device.target()).make("shared chaining").orElseThrow();
    Double said = expected.get("shared chaining");
    assertThat(NetworkFacts.of(made, 65536, device, null, said).predictedUs()).isEqualTo(said);
  }
}
