package dev.warpwright.families.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.Nvcc;
import dev.warpwright.families.attention.AttentionConfig.Combine;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.workload.Attention;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the model chooses, and that its counts are those of the kernels. */
class AttentionModelTest {
  private static final DeviceModel H200 = DeviceCatalogue.find("H200 SXM").orElseThrow();

  private static AttentionModel.Expected best(Attention attention) {
    return AttentionModel.ranked(attention, H200).getFirst();
  }

  @Test
  void fewHeadsDivideTheirKeysAndManyDoNot() {
    Attention one = Attention.of(1, 32, 8, 128, 1, 16384, DType.BF16);
    assertThat(best(one).config().splits()).isGreaterThan(8);
    assertThat(best(one).config().isForWarpgroups()).isTrue();
    Attention many = Attention.of(32, 32, 8, 128, 1, 4096, DType.BF16);
    assertThat(best(many).config().splits()).isLessThanOrEqualTo(2);
    Attention prefill = Attention.of(4, 32, 8, 128, 4096, 4096, DType.BF16).withCausal(true);
    assertThat(best(prefill).config().splits()).isEqualTo(1);
    assertThat(best(prefill).config().isForWarpgroups()).isTrue();
    assertThat(best(prefill).config().tileRows()).isEqualTo(128);
  }

  /** What was measured on an H200, and the configuration that was fastest there. */
  @ParameterizedTest
  @CsvSource({
    "1, 16384, 22.94, rows=16 keys=64 splits=32 threads=32 stages=3",
    "1, 16384, 24.09, rows=16 keys=32 splits=64 threads=32 stages=3",
    "1, 16384, 38.33, rows=16 keys=16 splits=16 threads=32 stages=4",
    "32, 4096, 134.83, rows=16 keys=64 splits=1 threads=64 stages=2",
    "32, 4096, 139.57, rows=16 keys=32 splits=2 threads=32 stages=3",
    "32, 4096, 161.50, rows=16 keys=64 splits=1 threads=32 stages=3",
    "1, 1024, 5.75, rows=16 keys=32 splits=32 threads=32 stages=3",
    "1, 1024, 8.42, rows=16 keys=16 splits=8 threads=32 stages=2",
    "1, 16384, 19.6, rows=64 keys=64 splits=16 threads=256 stages=6 by=wgmma",
    "1, 16384, 34.8, rows=64 keys=64 splits=16 threads=256 stages=2 by=wgmma",
    "8, 2048, 18.3, rows=64 keys=64 splits=2 threads=256 stages=6 by=wgmma combine=cluster",
    "32, 4096, 119.3, rows=64 keys=64 splits=1 threads=256 stages=4 by=wgmma",
    "32, 4096, 120.8, rows=64 keys=96 splits=1 threads=256 stages=4 by=wgmma blocks=132",
    "1, 1024, 4.75, rows=64 keys=64 splits=8 threads=256 stages=4 by=wgmma combine=cluster",
    "1, 1024, 4.88, rows=64 keys=64 splits=8 threads=256 stages=4 by=wgmma",
    "1, 1024, 5.48, rows=16 keys=128 splits=8 threads=128 stages=2 combine=cluster",
    "0, 4096, 244.1, rows=128 keys=128 splits=1 threads=384 stages=3 by=wgmma",
    "0, 4096, 259.5, rows=128 keys=96 splits=1 threads=384 stages=4 by=wgmma",
    "0, 4096, 357.7, rows=128 keys=64 splits=1 threads=384 stages=2 by=wgmma",
    "0, 4096, 630.3, rows=64 keys=64 splits=1 threads=128 stages=2"
  })
  void expectsWhatWasMeasured(int batch, int keys, double measured, String config) {
    Attention attention =
        batch > 0
            ? Attention.of(batch, 32, 8, 128, 1, keys, DType.BF16)
            : Attention.of(1, 32, 8, 128, keys, keys, DType.BF16).withCausal(true);
    AttentionConfig asked = Objects.requireNonNull(AttentionConfig.parse(config));
    assertThat(AttentionModel.predict(attention, asked, H200).micros())
        .isBetween(measured / 1.25, measured * 1.25);
  }

  @Test
  void aSpaceIsLimitedByWhatIsAskedFor() {
    Attention attention = Attention.of(1, 32, 8, 128, 1, 1000, DType.BF16);
    AttentionSpace asked =
        new AttentionSpace(
            List.of(16),
            List.of(24, 32),
            List.of(3, 33),
            List.of(32),
            List.of(2),
            List.of(),
            List.of());
    assertThat(AttentionModel.ranked(attention, asked, H200))
        .extracting(AttentionModel.Expected::config)
        .containsExactlyInAnyOrder(
            new AttentionConfig(16, 32, 3, 32, 2),
            new AttentionConfig(16, 32, 3, 32, 2).combined(Combine.CLUSTER),
            new AttentionConfig(16, 32, 3, 32, 2).combined(Combine.LAST),
            new AttentionConfig(16, 32, 33, 32, 2),
            new AttentionConfig(16, 32, 33, 32, 2).combined(Combine.LAST));
    for (AttentionConfig config : AttentionSpace.ALL.configs(attention, GpuTarget.SM_80)) {
      assertThat(AttentionConfig.parse(config.text())).isEqualTo(config);
    }
    assertThat(AttentionConfig.parse("rows=16 keys=32")).isNull();
  }

  /** What was never measured is tried early, and taken by nobody untold. */
  @Test
  void aSearchTriesEachKindFirst() {
    Attention attention = Attention.of(1, 32, 8, 128, 1, 16384, DType.BF16);
    List<AttentionModel.Expected> ranked = AttentionModel.ranked(attention, H200);
    assertThat(ranked.getFirst().config().combine()).isNotEqualTo(Combine.LAST);
    List<AttentionConfig> tried = AttentionModel.eachKindFirst(ranked);
    assertThat(tried).hasSameSizeAs(ranked);
    assertThat(tried.getFirst()).isEqualTo(ranked.getFirst().config());
    assertThat(tried.subList(0, 7).stream().filter(c -> c.combine() == Combine.LAST).count())
        .isEqualTo(2);
  }

  /** No expectation is below what memory and tensor cores allow. */
  @Test
  void nothingIsExpectedBelowItsBound() {
    for (Attention attention :
        List.of(
            Attention.of(32, 32, 8, 128, 1, 4096, DType.BF16),
            Attention.of(1, 8, 8, 64, 1, 3, DType.F16),
            Attention.of(1, 32, 8, 128, 2048, 2048, DType.F16).withCausal(true))) {
      double memory = attention.bytes() / (H200.dramGBs() * 1e3);
      double math = attention.flops() / (H200.f16Tflops() * 1e6);
      for (AttentionModel.Expected expected : AttentionModel.ranked(attention, H200)) {
        assertThat(expected.micros()).isGreaterThan(Math.max(memory, math));
      }
    }
  }

  @Test
  void sharedBytesAreTheKernels() {
    for (int head : List.of(8, 72, 128)) {
      Attention attention = Attention.of(1, 4, 2, head, 1, 100, DType.BF16);
      for (int stages = 1; stages <= 3; stages++) {
        AttentionConfig config = new AttentionConfig(16, 32, 1, 64, stages);
        Kernel kernel =
            AttentionKernels.of(attention, config, GpuTarget.SM_80).kernels().getFirst();
        assertThat(KernelResources.of(kernel).sharedBytes())
            .isEqualTo(AttentionModel.sharedBytes(attention, config));
      }
    }
  }

  @Test
  void sharedBytesOfWarpgroupsAreTheKernels() {
    Attention attention = Attention.of(1, 4, 2, 64, 64, 100, DType.BF16);
    for (int stages = 2; stages <= 5; stages++) {
      AttentionConfig config = AttentionConfig.wgmma(64, 96, stages);
      Kernel kernel = AttentionKernels.of(attention, config, GpuTarget.SM_90A).kernels().getFirst();
      assertThat(KernelResources.of(kernel).sharedBytes())
          .isEqualTo(AttentionModel.sharedBytes(attention, config));
    }
  }

  /** The widest head is the one whose sums leave the fewest registers. */
  @Test
  void whatIsChosenDoesNotSpill() {
    Optional<Nvcc> nvcc = CudaCompilers.nvcc();
    assumeTrue(nvcc.isPresent(), "nvcc is not installed: nothing is compiled");
    Attention attention = Attention.of(2, 8, 2, 256, 1, 2000, DType.BF16);
    Kernel kernel =
        AttentionKernels.of(attention, best(attention).config(), GpuTarget.SM_90A)
            .kernels()
            .getFirst();
    String cuda = CudaPrinter.print(kernel, GpuTarget.SM_90A);
    Cubin cubin = nvcc.get().compile(new CompileRequest(cuda, GpuTarget.SM_90A.name()));
    assertThat(cubin.usage(kernel.name()).orElseThrow().isClean())
        .as("%s %s: %s", attention.text(), best(attention).config().text(), cubin.log())
        .isTrue();
  }

  @Test
  void aTileNeitherDividesNorConsistsOfPages() {
    Attention attention = Attention.of(1, 1, 1, 64, 1, 100, DType.F16).withPage(24);
    assertThatThrownBy(() -> AttentionModel.ranked(attention, H200))
        .isInstanceOf(UserError.class)
        .hasMessage("a tile of 16 keys neither divides a page of 24 nor consists of such");
  }
}
