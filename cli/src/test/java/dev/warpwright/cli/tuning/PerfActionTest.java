package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.bench.KernelReport;
import dev.warpwright.compiler.predict.Prediction;
import dev.warpwright.compiler.tune.GemmChooser;
import dev.warpwright.compiler.tune.RejectedKernels;
import dev.warpwright.ir.DeviceError;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.CandidateFailure;
import dev.warpwright.tune.measure.FailureReason;
import dev.warpwright.tune.record.Environment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PerfActionTest {
  @TempDir private Path folder;

  private static KernelReport report(@Nullable String failure) {
    return new KernelReport(
        "gemm",
        "sm_80",
        "fake",
        1,
        failure == null ? 1e-3 : 1,
        1e-2,
        1e-3,
        failure,
        new KernelReport.Compiled("0123456789abcdef", 32, 0, 0, 0, List.of()),
        failure != null
            ? null
            : new KernelReport.Timing(new KernelReport.Times(10, 12), 1, 1, Prediction.NONE, 1, 9),
        List.of(),
        List.of(),
        List.of());
  }

  private Report perform(PerfAction.Bench bench, String... shapes) {
    PerfAction action =
        new PerfAction(
            () ->
                new TuningDevice(
                    "fake",
                    108,
                    GpuTarget.SM_80,
                    new Environment("sm_80", "fake", "1.0", "none", "test")),
            (here, database) ->
                new GemmChooser(
                    new GemmChooser.Where(here.target(), here.name(), 108, "1.0"),
                    database,
                    Optional.empty(),
                    new RejectedKernels(folder.resolve("rejected"))),
            bench);
    List<Products> tasks =
        Stream.of(shapes)
            .map(shape -> Products.of("gemm", new KeyValues(List.of(shape.split(" "))), null))
            .toList();
    return action.perform(
        new PerfRequest(tasks, folder.resolve("tuning.db"), 9, true, null), line -> {});
  }

  @Test
  void oneThatCannotBeMeasuredDoesNotStopTheOthers() {
    int[] calls = {0};
    PerfAction.Bench bench =
        (kernel, rounds, here, progress) -> {
          if (++calls[0] == 2) {
            throw new DeviceError("out of memory");
          }
          return report(null);
        };
    Report report = perform(bench, "MNK=64", "MNK=72", "MNK=80");
    assertThat(report.code()).isEqualTo(ExitCode.DEVICE);
    assertThat(report.text())
        .contains("m=72 n=72: not measured: out of memory")
        .endsWith("3 products: 2 verified, 0 WRONG, 1 not measured");
    assertThat(report.json().write()).contains("\"failure\": \"out of memory\"");
    assertThatThrownBy(
            () ->
                perform(
                    (kernel, rounds, here, progress) -> {
                      throw new DeviceError("out of memory");
                    },
                    "MNK=64"))
        .as("alone it is an error as ever")
        .isInstanceOf(DeviceError.class);
  }

  @Test
  void wrongIsWorseThanNotMeasured() {
    int[] calls = {0};
    PerfAction.Bench bench =
        (kernel, rounds, here, progress) -> {
          if (++calls[0] == 2) {
            throw new DeviceError("out of memory");
          }
          return report(calls[0] == 1 ? "more than the peak" : null);
        };
    Report report = perform(bench, "MNK=64", "MNK=72", "MNK=80");
    assertThat(report.code()).isEqualTo(ExitCode.WRONG);
    assertThat(report.text()).endsWith("3 products: 1 verified, 1 WRONG, 1 not measured");
  }

  @Test
  void aKernelThatIsWrongIsNotSeenByTheUser() {
    List<String> points = new ArrayList<>();
    PerfAction.Bench bench =
        (kernel, rounds, here, progress) -> {
          points.add(kernel.point().text());
          if (points.size() == 1) {
            throw new CandidateFailure(FailureReason.WRONG, "the result is wrong");
          }
          return report(null);
        };
    Report report = perform(bench, "MNK=64");
    assertThat(report.code()).isEqualTo(ExitCode.OK);
    assertThat(points).hasSize(2).doesNotHaveDuplicates();
    assertThat(report.text()).contains(points.getLast()).doesNotContain("wrong");
    assertThat(report.json().write()).contains("\"reason\": \"wrong\"");
    // The next time it is not tried.
    perform(bench, "MNK=64");
    assertThat(points).hasSize(3);
    assertThat(points.getLast()).isEqualTo(points.get(1));
  }
}
