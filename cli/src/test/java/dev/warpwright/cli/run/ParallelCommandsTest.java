package dev.warpwright.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.compiler.OfflineGpu;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.parallel.program.ParallelCompiler;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands with {@code --gpus}. */
final class ParallelCommandsTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @TempDir Path folder;

  private int execute(String line) {
    out.reset();
    err.reset();
    return Main.execute(
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        line.replace("FOLDER", folder.toString()).split(" "));
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  private String err() {
    return err.toString(StandardCharsets.UTF_8);
  }

  @Test
  void aNetworkRunsOnSimulatedGpusAndIsVerified() throws Exception {
    assertThat(
            execute(
                "run ffn M=21 D=24 H=40 gated=1 bias=1 --gpus 2,tensor --target sim --emit FOLDER"))
        .as(err())
        .isEqualTo(ExitCode.OK);
    assertThat(out())
        .contains(" on 2 x simulated sm_90a in bf16, 21 rows: tensor parallel, ")
        .contains(" 1 sum over devices")
        .contains("verified: relative error");
    assertThat(Files.readString(folder.resolve("4-program.ir")))
        .startsWith("program ffn on 2 devices {")
        .contains("all_reduce sum y");
    assertThat(execute("run mlp widths=16,24,8 act=relu rows=9 --gpus 3,data --target sim --json"))
        .as(err())
        .isEqualTo(ExitCode.OK);
    assertThat(out())
        .contains("\"gpus\": 3")
        .contains("\"way\": \"data parallel\"")
        .contains("\"verified\": true");
  }

  @Test
  void checkRunsThemUnderTheSanitizers() {
    assertThat(execute("check ffn M=21 D=24 H=40 --gpus 2,tensor --schedules 2"))
        .as(err())
        .isEqualTo(ExitCode.OK);
    assertThat(out())
        .contains("checked ffn for gpus=2 rows=21 in 2 orders, compared with its graph, ")
        .contains("no findings");
  }

  @Test
  void planShowsTheWaysBesideEachOther() {
    assertThat(execute("plan ffn M=16 D=256 H=512 --gpus 2 --target sm_90a"))
        .isEqualTo(ExitCode.OK);
    assertThat(out())
        .contains("one GPU: ")
        .contains("data parallel: ")
        .contains("tensor parallel: ")
        .contains("layers up (columns), down (rows)")
        .contains("joined by nvlink4 ")
        .contains("not measured here");
    assertThat(execute("plan mlp widths=64,64 rows=8 --gpus 2,link=pcie5 --target sim --json"))
        .isEqualTo(ExitCode.OK);
    assertThat(out()).contains("\"link\": \"pcie5\"").contains("\"possible\": false");
  }

  /** On the fake driver: rows of inputs need no NCCL. */
  @Test
  void twoGpusAreMeasuredBesideOne() {
    Graph graph =
        RandomMlp.of(
            new Architecture.Mlp(List.of(16, 24, 8), List.of("relu")), false, DType.F16, 1);
    ParallelCompiler compiler =
        new ParallelCompiler(graph, new OfflineGpu(GpuTarget.SM_80), Precision.F16, 2);
    try (FakeGpu gpu = FakeGpu.install().devices(2)) {
      compiler.data(9).program().kernels().forEach(gpu::knows);
      compiler.one(9).program().kernels().forEach(gpu::knows);
      assertThat(execute("run mlp widths=16,24,8 act=relu rows=9 --gpus 2,data --time 0"))
          .as(err())
          .isEqualTo(ExitCode.OK);
      assertThat(out())
          .contains(" on 2 x Fake GPU (sm_80) in f16, 9 rows: data parallel, ")
          .containsPattern("[0-9.]+ us, [0-9.]+ of one GPU's [0-9.]+; ")
          .contains("verified: relative error");
      assertThat(execute("perf mlp widths=16,24,8 act=relu rows=9 --gpus 3,data"))
          .isEqualTo(ExitCode.DEVICE);
      assertThat(err()).contains("--gpus 3: 2 GPUs here run sm_80; give fewer");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "run ffn M=3 D=24 H=40 --gpus 2 --target cpu|--gpus 2: the CPU is one device;",
        "plan ffn M=3 D=24 H=40 --gpus 2 --target cpu|--gpus 2: the CPU is one device;",
        "run mlp widths=64,64 rows=8 --gpus 2,tensor --target sim|nothing to split over 2 GPUs",
        "run ffn M=3 D=24 H=40 --gpus 99 --target sim|--gpus 99: a number from 2 to 16",
        "run ffn M=3 D=24 H=40 --gpus 2,x --target sim|--gpus 2,x: 'x' does not fit",
        "run ffn M=3 D=24 H=40 --gpus 2,tensor,parts=4 --target sim|parts=4: from 1 to",
        "plan attention HQ=32 HKV=8 D=128 S=64 --gpus 2|--gpus 2: for networks;",
        "check families --gpus 2|--gpus: for networks",
      })
  void whatCannotBeIsOneLine(String line, String message) {
    assertThat(execute(line)).isEqualTo(ExitCode.USAGE);
    assertThat(err().strip().lines()).singleElement().asString().contains(message);
  }
}
