package dev.warpwright.measure.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.DeviceError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.FakeBench;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** A reference that itself is checked, and what it says of results that are off. */
@Isolated("takes the driver's place in this process")
final class DeviceReferenceTest {
  private static final int SEED = 5;
  private static final int COLUMNS = 17;

  private final Kernel kernel = FakeBench.gemm("ours", "0.0");
  private final BoundKernel bound = BoundKernel.of(kernel, FakeBench.SHAPE);
  private final BoundWorkload workload = bound.workload();
  private FakeGpu gpu;
  private Gpu device;
  private CudaStream stream;
  private BenchMemory memory;
  private DeviceReference reference;

  @BeforeEach
  void open() {
    gpu = FakeBench.teach(FakeGpu.install(), kernel, FakeBench.SHAPE);
    device = Gpu.require(GpuTarget.SM_80);
    stream = device.context().newStream();
    memory = new BenchMemory(bound, device.context(), stream, SEED);
    reference = new DeviceReference(workload, memory, device, stream);
  }

  @AfterEach
  void close() {
    reference.close();
    memory.close();
    device.close();
    assertThat(gpu.liveBuffers()).isZero();
    gpu.close();
  }

  private CudaBuffer result() {
    return memory.get(0, workload.result());
  }

  /** The exact result as f32, with one element replaced. */
  private void write(int place, float instead) {
    int count = 24 * COLUMNS;
    double[] exact = new double[count];
    reference.result().copyTo(MemorySegment.ofArray(exact), stream);
    float[] rounded = new float[count];
    for (int i = 0; i < count; i++) {
      rounded[i] = (float) exact[i];
    }
    if (place >= 0) {
      rounded[place] = instead;
    }
    result().copyFrom(rounded, stream);
  }

  @Test
  void anExactResultIsOffByItsRoundingOnly() {
    reference.compute(0, SEED);
    write(-1, 0);
    OutputError error = reference.error(result());
    assertThat(error.nonFinite()).isZero();
    assertThat(error.relative()).isPositive().isLessThan(1e-7);
    assertThat(error.within(workload.tolerance())).isTrue();
  }

  @Test
  void oneWrongElementIsFoundAndLocated() {
    reference.compute(0, SEED);
    int place = 11 * COLUMNS + 3;
    write(place, 100f);
    OutputError error = reference.error(result());
    assertThat(error.worst()).isEqualTo(place);
    assertThat(error.maxAbs()).isGreaterThan(50);
    assertThat(error.within(workload.tolerance())).isFalse();
  }

  @Test
  void whatIsPoisonedOrInfiniteIsNoResult() {
    reference.compute(0, SEED);
    memory.poison(0);
    assertThat(reference.error(result()).nonFinite()).isEqualTo(24 * COLUMNS);
    write(7, Float.POSITIVE_INFINITY);
    OutputError error = reference.error(result());
    assertThat(error.nonFinite()).isEqualTo(1);
    assertThat(error.worst()).isEqualTo(7);
    assertThat(error.within(1)).isFalse();
  }

  @Test
  void eachSetHasItsOwnReference() {
    reference.compute(0, SEED);
    write(-1, 0);
    reference.compute(1, SEED);
    assertThat(reference.error(result()).within(workload.tolerance())).isFalse();
  }

  /** Else a mistake of the reference would pass as one of the kernel, or hide it. */
  @Test
  void aReferenceThatComputesSomethingElseIsAnError() {
    Kernel product = ReferenceGemm.of(workload).getFirst().kernel();
    Buffer out = product.buffers().getLast();
    assertThat(product.params().getLast()).isEqualTo(out);
    gpu.breaks(dev.warpwright.cuda.CudaPrinter.functionName(product));
    assertThatThrownBy(() -> reference.compute(0, SEED))
        .isInstanceOf(DeviceError.class)
        .hasMessageContaining("the reference kernel reference computes 0.0, the host")
        .hasMessageContaining("seed 5");
  }
}
