package dev.warpwright.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.reference.BenchMemory;
import dev.warpwright.measure.reference.HostMatrix;
import dev.warpwright.measure.timing.InterleavedTimer;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BenchPartsTest {
  private final long seed = new Random().nextLong();

  @Test
  void setsExceedTheCacheThreeTimes() {
    BoundKernel bound =
        BoundKernel.of(
            SampleKernels.parse(SampleKernels.GEMM), Map.of("M", 512L, "N", 512L, "K", 512L));
    long bytes = 3L * 512 * 512 * 2;
    assertThat(bound.workload().leastBytes()).isEqualTo(bytes);
    assertThat(BenchMemory.sets(bound, 50 << 20)).isEqualTo(100);
    assertThat(BenchMemory.sets(bound, 1 << 10)).isEqualTo(2);
    assertThat(BenchMemory.sets(bound, 1L << 40)).isEqualTo(256);
  }

  @Test
  void randomMatricesAreNormalAndUnrelated() {
    Buffer buffer = Buffer.of("A", DType.F32, Scope.GLOBAL, 500, 401);
    HostMatrix a = HostMatrix.random(buffer, 0.5, seed);
    HostMatrix b = HostMatrix.random(buffer, 0.5, seed + 31);
    assertThat(HostMatrix.random(buffer, 0.5, seed).elements()).isEqualTo(a.elements());
    for (int shift : new int[] {0, 1, 31, 401}) {
      double squares = 0;
      double products = 0;
      for (int i = 0; i + shift < a.count(); i++) {
        squares += a.get(i) * a.get(i);
        products += a.get(i + shift) * b.get(i);
      }
      assertThat(squares / (a.count() - shift)).as("seed %d", seed).isCloseTo(0.25, within(0.01));
      assertThat(products / a.count()).as("seed %d", seed).isCloseTo(0, within(0.005));
    }
  }

  @Test
  void ratesAreThoseOfTheArchitecture() {
    // An H200: 132 SMs at up to 1.98 GHz.
    assertThat(132 * 1.98e9 * PeakRate.perClock(9, 0, GpuTarget.SM_90A, Precision.BF16))
        .isCloseTo(1070e12, within(1e12));
    assertThat(PeakRate.perClock(8, 0, GpuTarget.SM_80, Precision.F16)).isEqualTo(2048);
    assertThat(PeakRate.perClock(8, 9, GpuTarget.SM_89, Precision.F32)).isEqualTo(256);
  }

  @Test
  void medians() {
    assertThat(InterleavedTimer.median(new double[] {3, 1, 2})).isEqualTo(2);
    assertThat(InterleavedTimer.median(new double[] {4, 1, 2, 3})).isEqualTo(2.5);
  }

  @Test
  void hashesAreSha256() {
    assertThat(SourceHash.of("abc"))
        .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }

  @Test
  void requestsAreChecked() {
    assertThatThrownBy(
            () ->
                new KernelBench.Request(SampleKernels.parse(SampleKernels.GEMM), Map.of(), 1, 4, 0))
        .isInstanceOf(UserError.class);
  }
}
