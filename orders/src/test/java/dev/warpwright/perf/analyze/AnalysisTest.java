package dev.warpwright.perf.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.perf.predict.GemmPrediction;
import dev.warpwright.perf.predict.Part;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class AnalysisTest {
  private static final DeviceModel H200 = Gpus.find("h200");

  @ParameterizedTest
  @CsvSource({
    "a100, A100 SXM 80 GB",
    "A40, A40",
    "4090, RTX 4090",
    "rtx4090, RTX 4090",
    "3050, RTX 3050 Laptop",
    "h200, H200 SXM",
    "l4, L4",
    "H100 PCIe, H100 PCIe"
  })
  void findsDevicesByWhatTheyAreCalled(String name, String device) {
    assertThat(Gpus.find(name).name()).isEqualTo(device);
  }

  @Test
  void shortNamesFindTheirDevice() {
    DeviceCatalogue.ALL.forEach(d -> assertThat(Gpus.find(Gpus.shortName(d))).isSameAs(d));
  }

  @Test
  void decodingIsMemoryBoundAndPrefillIsNot() {
    Analysis decode =
        Analysis.of(
            WorkloadParts.of("gemm", Precision.BF16, Map.of("M", 16L, "N", 14336L, "K", 4096L)),
            H200);
    assertThat(decode.lines().getFirst().roofline().memoryBound()).isTrue();
    assertThat(decode.boundUs()).isCloseTo(24.6, within(0.5));
    Analysis prefill =
        Analysis.of(
            WorkloadParts.of("gemm", Precision.BF16, Map.of("M", 8192L, "N", 8192L, "K", 8192L)),
            H200);
    assertThat(prefill.lines().getFirst().roofline().memoryBound()).isFalse();
    assertThat(prefill.boundUs()).isCloseTo(1111, within(2.0));
  }

  @Test
  void aModelHasItsParameters() {
    WorkloadParts llama = WorkloadParts.model("llama3-8b", Precision.BF16, Map.of("M", 1L));
    double weights =
        llama.parts().stream()
            .filter(p -> p.gemm() != null)
            .mapToDouble(p -> p.times() * (double) p.gemm().n() * p.gemm().k())
            .sum();
    // Without the embedding: 8.03e9 - 128256 * 4096.
    assertThat(weights).isCloseTo(7.504e9, within(0.01e9));
    WorkloadParts gpt = WorkloadParts.model("gpt3", Precision.F16, Map.of("M", 2048L));
    assertThat(
            gpt.parts().stream()
                .filter(p -> p.gemm() != null)
                .mapToDouble(p -> p.times() * (double) p.gemm().n() * p.gemm().k())
                .sum())
        .isCloseTo(174.6e9, within(1e9));
  }

  @Test
  void attentionReadsItsKeysOnce() {
    WorkloadParts decode =
        WorkloadParts.of(
            "attention",
            Precision.BF16,
            Map.of("M", 1L, "S", 16384L, "heads", 32L, "kv", 8L, "d", 128L));
    Part fused = decode.parts().getFirst();
    assertThat(fused.bytes()).isCloseTo(67.1e6, within(0.2e6));
    assertThat(fused.flops()).isEqualTo(4.0 * 32 * 16384 * 128);
    Part causal =
        WorkloadParts.of("attention", Precision.BF16, Map.of("M", 8192L, "causal", 1L))
            .parts()
            .getFirst();
    assertThat(causal.flops()).isCloseTo(2.0 * 32 * 8192 * 8193 * 128, within(1e6));
  }

  @Test
  void predictionsKeepTheirBounds() {
    GemmShape shape = new GemmShape(1000, 2000, 3008, Precision.BF16);
    for (Tiling tiling : Tiling.usual(H200)) {
      for (String order : List.of("row", "column", "grouped:4", "hilbert", "nested:4")) {
        GemmPrediction p = GemmPrediction.of(shape, tiling, BlockOrder.parse(order), H200);
        assertThat(p.dramReadBytes()).isGreaterThanOrEqualTo(shape.operandBytes());
        assertThat(p.dramReadBytes()).isLessThanOrEqualTo(p.l2Bytes());
        assertThat(p.tail()).isBetween(0.0, 1.0);
        // What is idle is what these same waves have room for and no result needs.
        int units = H200.sms() / tiling.sms();
        assertThat(p.waves()).isEqualTo(Math.ceilDiv(p.tiles(), units));
        double room = p.waves() * (double) units * tiling.m() * tiling.n();
        assertThat(p.tail()).isCloseTo(1 - 1000 * 2000 / room, within(1e-12));
        assertThat(p.timeUs())
            .isGreaterThan(
                Roofline.of(
                        Part.gemm("", 1, 1000, 2000, 3008, Precision.BF16), Precision.BF16, H200)
                    .boundUs());
      }
    }
  }

  @Test
  void whatFitsTheCacheIsReadOnce() {
    GemmShape small = new GemmShape(2048, 2048, 2048, Precision.BF16);
    GemmPrediction p = GemmPrediction.of(small, Tiling.of(128, 128), new BlockOrder.Row(), H200);
    assertThat(p.dramReadBytes()).isEqualTo(small.operandBytes());
    // Each operand is missed once, and in part once more by the other half of the cache.
    assertThat(p.hitRate()).isBetween(1 - 1.6 / 16, 1 - 1 / 16.0);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gemm | M=1 N=1 | needs a value of K",
        "gemm | M=1 N=1 K=1 Z=3 | has no value Z",
        "gemm | M=0 N=1 K=1 | M=0: it must be between",
        "conv | M=1 | there is no workload 'conv'",
        "attention | M=1 heads=3 kv=2 | no multiple of kv=2"
      })
  void badValuesAreNamed(String kind, String values, String message) {
    Map<String, Long> given = new java.util.LinkedHashMap<>();
    for (String word : values.split(" ")) {
      given.put(word.split("=")[0], Long.parseLong(word.split("=")[1]));
    }
    assertThatThrownBy(() -> WorkloadParts.of(kind, Precision.BF16, given))
        .isInstanceOf(UserError.class)
        .hasMessageContaining(message);
  }

  @Test
  void whatADeviceCannotDoIsSaid() {
    assertThatThrownBy(() -> Precision.E4M3.peak(Gpus.find("a100")))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("A100 SXM 80 GB multiplies no e4m3");
    assertThatThrownBy(() -> Gpus.find("voodoo"))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("H200 SXM");
    assertThatThrownBy(() -> Tiling.parse("128")).hasMessageContaining("128x256");
    assertThatThrownBy(() -> Precision.parse("f8")).hasMessageContaining("none of");
  }

  static List<DeviceModel> devices() {
    return DeviceCatalogue.ALL;
  }

  /** Once K is long, each step along it costs as much as the others: no kink, on no device. */
  @ParameterizedTest
  @MethodSource("devices")
  void bytesGrowWithKInAStraightLine(DeviceModel device) {
    for (String order : List.of("row", "grouped:8")) {
      double before = 0;
      double hits = 0;
      for (long k : new long[] {1 << 14, 1 << 16, 1 << 20}) {
        var shape = new GemmShape(8192, 8192, k, Precision.F16);
        GemmPrediction p =
            GemmPrediction.of(shape, Tiling.of(128, 128), BlockOrder.parse(order), device);
        double each = p.dramReadBytes() / k;
        assertThat(each)
            .as("%s, K=%d", order, k)
            .isCloseTo(before == 0 ? each : before, within(each / 50));
        assertThat(p.hitRate())
            .as("%s, K=%d", order, k)
            .isCloseTo(before == 0 ? p.hitRate() : hits, within(0.01));
        hits = p.hitRate();
        before = each;
      }
    }
  }
}
