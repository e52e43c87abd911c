package dev.warpwright.measure.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.measure.timing.TimelineProbe;
import dev.warpwright.perf.analyze.Gpus;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OrderMeasurerTest {
  private static final DeviceModel H200 = Gpus.find("h200");

  private static OrderMeasurer.Request request(
      GemmShape shape, List<String> tiles, List<String> orders) {
    return new OrderMeasurer.Request(
        shape,
        tiles.stream().map(Tiling::parse).toList(),
        orders.stream().map(BlockOrder::parse).toList(),
        0,
        3);
  }

  private static GemmShape shape(long m, long n, long k) {
    return new GemmShape(m, n, k, Precision.BF16);
  }

  /** Lets a run go on, or ends it after so many lines. */
  private static final class Told implements OrderMeasurer.Watcher {
    final List<String> lines = new ArrayList<>();
    final int most;

    Told(int most) {
      this.most = most;
    }

    @Override
    public boolean cancelled() {
      return lines.size() >= most;
    }

    @Override
    public void say(String line) {
      lines.add(line);
    }
  }

  @Test
  void theSimulatorTellsWhichTileRanWhereAndWhen() {
    var request =
        request(shape(512, 1024, 64), List.of("128x128", "256x256"), List.of("row", "grouped:2"));
    List<OrderMeasurement> measured =
        new SimulatedOrderMeasurer(H200).measure(request, new Told(9));
    assertThat(measured).hasSize(4).allMatch(OrderMeasurement::verified);
    assertThat(measured).allMatch(m -> m.times() == null && m.counters() == null);
    for (OrderMeasurement m : measured) {
      boolean pair = m.tiling().sms() == 2;
      int tiles = pair ? 8 : 32;
      List<Timeline.Event> events = m.timeline().events();
      assertThat(events).as(m.tiling().text()).hasSize(pair ? 2 * tiles : tiles);
      assertThat(events.stream().map(Timeline.Event::item).distinct()).hasSize(tiles);
      assertThat(events).allMatch(e -> e.begin() < e.end());
      assertThat(m.timeline().idle()).isBetween(0.0, 1.0);
    }
  }

  @Test
  void isCancelledBetweenKernels() {
    var request = request(shape(128, 128, 64), List.of("128x128"), List.of("row", "column"));
    assertThat(new SimulatedOrderMeasurer(H200).measure(request, new Told(1))).hasSize(1);
  }

  @Test
  void whatCannotBeIsSaid() {
    assertThatThrownBy(
            () ->
                new SimulatedOrderMeasurer(H200)
                    .measure(
                        request(shape(8192, 8192, 8192), List.of("128x128"), List.of("row")),
                        new Told(9)))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("too large for the simulator");
    assertThatThrownBy(
            () ->
                new SimulatedOrderMeasurer(Gpus.find("a100"))
                    .measure(
                        request(shape(512, 512, 64), List.of("256x256"), List.of("row")),
                        new Told(9)))
        .hasMessage("tile=256x256 is what a cluster computes; sm_80 has none");
    assertThatThrownBy(
            () ->
                new GpuOrderMeasurer()
                    .measure(
                        request(
                            new GemmShape(64, 64, 64, Precision.F32),
                            List.of("128x128"),
                            List.of("row")),
                        new Told(9)))
        .hasMessage("dtype=f32: orders are measured in bf16 and f16");
  }

  /** What a GPU runs is well formed, with and without records, and the order is only data. */
  @ParameterizedTest
  @CsvSource({"h200, sm_90a", "a100, sm_80", "4090, sm_89"})
  void kernelsOfAllUsualTiles(String gpu, String target) {
    DeviceModel device = Gpus.find(gpu);
    assertThat(device.target().name()).isEqualTo(target);
    for (Tiling tiling : Tiling.usual(device)) {
      Map<String, String> sources = new HashMap<>();
      // Rows need no table: their kernel counts.
      for (String order : List.of("column", "hilbert")) {
        Kernel kernel =
            BoundKernel.of(
                    OrderKernels.of(
                        shape(2048, 2048, 256),
                        tiling,
                        BlockOrder.parse(order),
                        device.target(),
                        device.sms()),
                    Map.of())
                .kernel();
        TimelineProbe probe = TimelineProbe.of(kernel);
        assertThat(Verifier.verify(probe.kernel())).as(tiling.text()).isEmpty();
        sources.put(CudaPrinter.print(probe.kernel(), device.target()), order);
      }
      assertThat(sources).as("one source for all orders of a table, %s", tiling.text()).hasSize(1);
    }
  }

  @Test
  void countersAreReadFromTheRawPage() {
    List<String> page =
        List.of(
            "==PROF== Connected to process 12 (java)",
            "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\","
                + "\"gpu__time_duration.sum\",\"lts__t_sectors_srcunit_tex.sum\","
                + "\"lts__t_sectors_srcunit_tex_lookup_hit.sum\"",
            "\"\",\"\",\"byte\",\"byte\",\"ns\",\"sector\",\"sector\"",
            "\"0\",\"gemm_nt_bf16(const bf16 *,"
                + " int)\",\"1,000,064\",\"32\",\"1418432\",\"200\",\"150\"",
            "\"1\",\"gemm_nt_bf16(const bf16 *, int)\",\"7\",\"8\",\"9.5\",\"n/a\",\"150\"");
    assertThat(NsightCompute.parse(page))
        .containsExactly(
            Map.of(
                NsightCompute.TIME, 1418432.0,
                NsightCompute.DRAM_READ, 1000064.0,
                NsightCompute.DRAM_WRITE, 32.0,
                NsightCompute.L2_SECTORS, 200.0,
                NsightCompute.L2_HITS, 150.0));
  }

  private static OrderMeasurement sample() {
    return new OrderMeasurement(
        shape(512, 256, 128),
        Tiling.of(128, 128),
        new BlockOrder.Grouped(2),
        "mma.sync",
        "NVIDIA <b>H200",
        "2026-11-20",
        new OrderMeasurement.Times(12.5, 0.001),
        1.5e-3,
        null,
        new OrderMeasurement.Counters(14.25, 1e6, 2e5, 4e6, 0.75),
        Timeline.of(Timeline.Unit.NS, new long[] {1, 5, 1000, 1800, 0, 4, 992, 1700}, 1));
  }

  @Test
  void recordsAreWrittenAndReadAgain() {
    OrderMeasurement sample = sample();
    assertThat(sample.timeline().events())
        .containsExactly(new Timeline.Event(1, 0, 4, 0, 708), new Timeline.Event(0, 1, 5, 8, 808));
    assertThat(sample.timeline().overtaken()).isEqualTo(1);
    assertThat(sample.timeline().idle()).isCloseTo(1 - (708 + 800) / 1616.0, within(1e-12));
    String text =
        Json.object()
            .with("measurements", Json.array(List.of(sample), MeasurementJson::write))
            .write();
    List<OrderMeasurement> again = RecordedOrders.parse("test", text);
    assertThat(again).containsExactly(sample);
    var recorded = new RecordedOrders(again);
    var asked = request(sample.shape(), List.of("128x128"), List.of("row", "grouped:2"));
    assertThat(recorded.measure(asked, new Told(9))).containsExactly(sample);
    assertThatThrownBy(
            () ->
                recorded.measure(
                    request(shape(1, 1, 1), List.of("128x128"), List.of("row")), new Told(9)))
        .hasMessageContaining("recorded are: M=512 N=256 K=128 tile=128x128");
  }

  private static org.assertj.core.data.Offset<Double> within(double by) {
    return org.assertj.core.data.Offset.offset(by);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "{\"measurements\": 3}",
        "{\"measurements\": [{\"M\": 1}]}",
        "{\"measurements\": [{\"M\": 1, \"N\": 1, \"K\": 1, \"dtype\": \"bf16\", \"tile\":"
            + " \"128x128\",\"order\": \"row\", \"kernel\": \"\", \"device\": \"\", \"on\": \"\","
            + " \"timeline\": {\"unit\": \"years\", \"events\": []}}]}",
        "{\"measurements\": [{\"M\": 1, \"N\": 1, \"K\": 1, \"dtype\": \"bf16\", \"tile\":"
            + " \"128x128\",\"order\": \"row\", \"kernel\": \"\", \"device\": \"\", \"on\": \"\","
            + " \"timeline\": {\"unit\": \"ns\", \"events\": [[1, 2]]}}]}"
      })
  void otherFilesAreRefused(String text) {
    assertThatThrownBy(() -> RecordedOrders.parse("it", text)).isInstanceOf(UserError.class);
  }

  @Test
  void incompleteRecordsAreNoTimeline() {
    assertThatThrownBy(
            () -> Timeline.of(Timeline.Unit.NS, new long[] {-1, -1, -1, -1, 0, 0, 5, 9}, 1))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> Timeline.of(Timeline.Unit.NS, new long[] {0, 0, 9, 5}, 1))
        .isInstanceOf(IllegalStateException.class);
  }
}
