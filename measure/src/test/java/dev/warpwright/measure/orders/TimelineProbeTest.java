package dev.warpwright.measure.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.measure.timing.TimelineProbe;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Options;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.kernel.BoundKernel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TimelineProbeTest {
  private static Kernel parse(String text) {
    return new IrParser(Intrinsics::find).kernel("test", text);
  }

  private static long[] records(Arguments arguments, Buffer records) {
    long[] rows = new long[Math.toIntExact(records.storageElements())];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = arguments.get(records).integerElement(i);
    }
    return rows;
  }

  /** The kernels by hand, as they are measured: the result stays, and each item is recorded. */
  @ParameterizedTest
  @CsvSource({
    "gemm_bf16_sm80, 300, 200, 128, 6, 1",
    "gemm_bf16_sm90, 512, 512, 128, 8, 2",
    "gemm_f32_simt, 200, 200, 64, 4, 1"
  })
  void recordsEachWorkItemOnce(String name, long m, long n, long k, int rows, int cluster)
      throws IOException {
    Path file = Path.of("..", "kernels", name + ".kernel");
    BoundKernel bound =
        BoundKernel.of(parse(Files.readString(file)), Map.of("M", m, "N", n, "K", k));
    TimelineProbe probe = TimelineProbe.of(bound.kernel());
    assertThat(Verifier.verify(probe.kernel())).as(IrPrinter.text(probe.kernel())).isEmpty();
    Map<Buffer, BoundKernel.Content> contents = new LinkedHashMap<>(bound.contents());
    contents.put(probe.records(), new BoundKernel.Content.Poison());
    Arguments watched =
        KernelData.of(new BoundKernel(probe.kernel(), bound.workload(), contents), 7);
    Arguments plain = KernelData.of(bound, 7);
    int resident = 2 * cluster;
    GridOptions options =
        GridOptions.DEFAULT
            .withBlocks(Options.Order.FORWARD, resident)
            .withWarps(GridOptions.WarpChoice.TURNS);
    new GridInterpreter(bound.kernel(), GridOptions.DEFAULT).run(plain);
    assertThat(new GridInterpreter(probe.kernel(), options).check(watched)).isEmpty();
    assertThat(watched.get("C").sameBits(plain.get("C"))).isTrue();
    Timeline timeline =
        Timeline.of(Timeline.Unit.TURNS, records(watched, probe.records()), cluster);
    assertThat(timeline.events()).hasSize(rows);
    assertThat(timeline.events()).allMatch(e -> e.end() > e.begin());
    assertThat(timeline.events()).allMatch(e -> e.sm() < resident);
    assertThat(timeline.sms()).isEqualTo(Math.min(resident, rows));
    assertThat(timeline.events().getFirst().begin()).isZero();
    if (name.endsWith("sm80")) {
      assertThat(timeline.events()).allMatch(e -> e.block() == e.item());
      assertThat(timeline.overtaken()).isZero();
    }
  }

  @Test
  void withoutATableEachBlockIsAnItem() {
    Kernel kernel =
        parse(
            """
            kernel k(A: f32[6]) grid(bx = 3, by = 2) block(tid = 32) {
              if tid == 0 {
                A[by * 3 + bx] = 1.0f32
              }
            }
            """);
    TimelineProbe probe = TimelineProbe.of(kernel);
    Arguments arguments = Arguments.random(probe.kernel().params(), 1);
    new GridInterpreter(probe.kernel(), GridOptions.DEFAULT).run(arguments);
    Timeline timeline = Timeline.of(Timeline.Unit.TURNS, records(arguments, probe.records()), 1);
    assertThat(timeline.events().stream().map(Timeline.Event::block))
        .containsExactly(0, 1, 2, 3, 4, 5);
    assertThat(CudaPrinter.print(probe.kernel(), GpuTarget.SM_80))
        .contains("%smid", "%globaltimer", "__syncthreads();");
  }

  @Test
  void theFirstThreadOfARoleIsFoundOrTheKernelRefused() {
    String text =
        """
        kernel k(A: f32[4], order: i32[4]) grid(bx = 2) block(tid = 96) {
          if %s {
            A[0] = 0.0f32
          } else {
            for i in 2 {
              let tile: i32 = order[bx + i * 2]
              if tid == 64 {
                A[tile] = 1.0f32
              }
            }
          }
        }
        """;
    assertThat(
            IrPrinter.text(
                TimelineProbe.of(parse(String.format(Locale.ROOT, text, "tid < 64"))).kernel()))
        .contains("if tid == 64 {\n        records[bx + i * 2, 0] = u64(bx)")
        .doesNotContain("sync_threads");
    assertThatThrownBy(
            () -> TimelineProbe.of(parse(String.format(Locale.ROOT, text, "tid / 32 != 2"))))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("which of its threads");
  }
}
