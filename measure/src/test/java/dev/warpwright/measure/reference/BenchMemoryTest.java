package dev.warpwright.measure.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.measure.FakeBench;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.kernel.BoundKernel;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** What is in the sets of inputs. */
@Isolated("takes the driver's place in this process")
final class BenchMemoryTest {
  private final BoundKernel bound = BoundKernel.of(FakeBench.gemm("ours", "0.0"), FakeBench.SHAPE);

  @Test
  void theSetsThatAreVerifiedHaveDataOfTheirOwnAndTheOthersCopies() {
    try (FakeGpu gpu = FakeGpu.install().l2(4096)) {
      try (Gpu device = Gpu.require(GpuTarget.SM_80);
          CudaStream stream = device.context().newStream();
          BenchMemory memory = new BenchMemory(bound, device.context(), stream, 7)) {
        int last = memory.count() - 1;
        assertThat(last).isGreaterThan(2);
        for (Buffer input : bound.workload().inputs()) {
          float[] first = content(memory, 0, input, stream);
          assertThat(content(memory, last, input, stream)).isNotEqualTo(first);
          for (int set = 1; set < last; set++) {
            assertThat(content(memory, set, input, stream)).isEqualTo(first);
            assertThat(memory.get(set, input)).isNotSameAs(memory.get(0, input));
          }
          for (int set = 0; set <= last; set++) {
            assertThat((float[]) memory.host(set, input).elements())
                .as("what references are checked by")
                .isEqualTo(content(memory, set, input, stream));
          }
        }
      }
      assertThat(gpu.liveBuffers()).isZero();
    }
  }

  private static float[] content(BenchMemory memory, int set, Buffer input, CudaStream stream) {
    float[] values = new float[Math.toIntExact(input.storageElements())];
    memory.get(set, input).copyTo(MemorySegment.ofArray(values), stream);
    return values;
  }
}
