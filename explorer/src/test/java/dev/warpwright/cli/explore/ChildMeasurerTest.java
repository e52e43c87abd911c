package dev.warpwright.cli.explore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.orders.ChainMeasurer;
import dev.warpwright.measure.orders.OrderMeasurement;
import dev.warpwright.measure.orders.OrderMeasurer;
import dev.warpwright.perf.order.WorkItem;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.Precision;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ChildMeasurerTest {
  private static final OrderMeasurer.Request REQUEST =
      new OrderMeasurer.Request(
          new GemmShape(512, 256, 128, Precision.BF16),
          List.of(Tiling.of(128, 128)),
          List.of(new BlockOrder.Row(), new BlockOrder.Grouped(4)),
          30,
          7);

  private final List<String> said = Collections.synchronizedList(new ArrayList<>());
  private volatile boolean cancelled;

  private List<OrderMeasurement> measure(String script) {
    return new ChildMeasurer(List.of("bash", "-c", script, "child"))
        .measure(
            REQUEST,
            new OrderMeasurer.Watcher() {
              @Override
              public boolean cancelled() {
                return cancelled;
              }

              @Override
              public void say(String line) {
                said.add(line);
              }
            });
  }

  @Test
  void passesOnWhatTheCommandSays() {
    List<OrderMeasurement> measured =
        measure(
            """
            echo "warpwright: $*" >&2
            echo 'WARNING: of Java' >&2
            echo '{"measurements": [{"M": 512, "N": 256, "K": 128, "dtype": "bf16",' \
              '"tile": "128x128", "order": "row", "kernel": "mma.sync", "device": "it",' \
              '"on": "2026-11-20", "relError": 0.001, "timeUs": 5, "spread": 0}]}'
            """);
    assertThat(measured).hasSize(1);
    assertThat(measured.getFirst().times()).isEqualTo(new OrderMeasurement.Times(5, 0));
    assertThat(said)
        .containsExactly(
            "order measure M=512 N=256 K=128 dtype=bf16 tile=128x128 order=row,grouped:4 seed=7"
                + " --json seconds=30");
  }

  /** The order of two products goes by a file, which is gone afterwards. */
  @Test
  void chainsAreMeasuredWithTheirOrderInAFile() throws IOException {
    var request =
        new ChainMeasurer.Request(
            new FfnWorkload(128, 64, 256, 192, DType.BF16),
            Tiling.of(128, 128),
            List.of(
                new ChainMeasurer.Named(
                    "explicit",
                    List.of(new WorkItem(0, 0, 1), new WorkItem(0, 0, 0), new WorkItem(1, 0, 0)))),
            List.of(WaitPolicy.ROW),
            0,
            7);
    String script =
        "for word; do case $word in file=*) sed 's/^/warpwright: /' ${word#file=} >&2; echo >&2; echo ${word#file=};; esac; done;"
            + " echo \"warpwright: $*\" >&2";
    String file =
        new ChildMeasurer(List.of("bash", "-c", script, "child"))
            .measureChain(
                request,
                new OrderMeasurer.Watcher() {
                  @Override
                  public boolean cancelled() {
                    return false;
                  }

                  @Override
                  public void say(String line) {
                    said.add(line);
                  }
                })
            .strip();
    assertThat(said)
        .containsExactly(
            "t1 = 1 Order 0: [(1, 0, 0), (0, 0, 0), (0, 0, 1)]",
            "order measure M=128 N=256 K=64 N2=192 dtype=bf16 tile=128x128 file="
                + file
                + " wait=row seed=7 --json --no-counters");
    assertThat(Files.exists(Path.of(file))).isFalse();
  }

  @Test
  void aFailureIsItsLastLine() {
    assertThatThrownBy(() -> measure("echo 'warpwright: no NVIDIA driver' >&2; exit 3"))
        .isInstanceOf(DeviceError.class)
        .hasMessage("no NVIDIA driver");
    assertThatThrownBy(() -> measure("exit 3")).hasMessageContaining("without a word");
    assertThatThrownBy(() -> measure("echo nonsense")).isInstanceOf(UserError.class);
  }

  @Test
  @Timeout(60)
  void cancellingEndsItAndItsChildren() throws InterruptedException {
    Thread canceller =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (said.isEmpty() && !Thread.currentThread().isInterrupted()) {
                    Thread.onSpinWait();
                  }
                  cancelled = true;
                });
    long begin = System.nanoTime();
    assertThat(measure("sleep 600 & echo \"warpwright: $!\" >&2; wait")).isEmpty();
    canceller.join();
    assertThat((System.nanoTime() - begin) / 1e9).isLessThan(60);
    long child = Long.parseLong(said.getFirst());
    for (int i = 0;
        i < 100 && ProcessHandle.of(child).map(ProcessHandle::isAlive).orElse(false);
        i++) {
      Thread.sleep(50);
    }
    assertThat(ProcessHandle.of(child).map(ProcessHandle::isAlive).orElse(false)).isFalse();
  }
}
