package dev.warpwright.runtime.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.compile.CudaCompilers;
import org.junit.jupiter.api.Test;

/** The self-test as a test, where there is a GPU. */
class GpuTest {
  @Test
  void everythingThatTheRuntimeDoesWithAGpuWorks() {
    assumeTrue(CudaDriver.find().isPresent(), CudaDriver.whyMissing());
    assumeTrue(CudaCompilers.system().isPresent(), "no CUDA compiler");
    long seed = Long.getLong("seed", System.nanoTime());
    assertThat(CudaSelfTest.run(CudaDriver.require(), seed, false)).isEmpty();
  }
}
