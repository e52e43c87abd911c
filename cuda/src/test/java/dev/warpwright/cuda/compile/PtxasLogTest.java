package dev.warpwright.cuda.compile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class PtxasLogTest {
  private static final String LOG =
      """
      ptxas warning : Registers are spilled to local memory in function 'spilly', 212 bytes spill stores
      ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized \
      due to the presence of function calls in the function 'axpy'
      ptxas info    : 0 bytes gmem
      ptxas info    : Compiling entry function 'spilly' for 'sm_90a'
      ptxas info    : Function properties for spilly
          208 bytes stack frame, 216 bytes spill stores, 212 bytes spill loads
      ptxas info    : Used 32 registers, used 0 barriers, 208 bytes cumulative stack size
      ptxas info    : Compile time = 23.372 ms
      ptxas info    : Compiling entry function 'axpy' for 'sm_90a'
      ptxas info    : Function properties for axpy
          0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
      ptxas info    : Used 12 registers, used 1 barriers, 256 bytes smem, 372 bytes cmem[0]
      """;

  @Test
  void everyKernelIsRead() {
    List<ResourceUsage> usage = PtxasLog.parse(LOG);
    assertThat(usage).extracting(ResourceUsage::kernel).containsExactly("spilly", "axpy");
    ResourceUsage spilly = usage.getFirst();
    assertThat(spilly.registers()).isEqualTo(32);
    assertThat(spilly.staticShared()).isZero();
    assertThat(spilly.localBytes()).isEqualTo(208);
    assertThat(spilly.spillStores()).isEqualTo(216);
    assertThat(spilly.spillLoads()).isEqualTo(212);
    assertThat(spilly.warnings()).hasSize(1);
    assertThat(spilly.isClean()).isFalse();
    ResourceUsage axpy = usage.getLast();
    assertThat(axpy.registers()).isEqualTo(12);
    assertThat(axpy.staticShared()).isEqualTo(256);
    assertThat(axpy.localBytes()).isZero();
    assertThat(axpy.warnings()).singleElement().asString().contains("serialized");
  }

  @Test
  void oneKernelWithoutWarningsIsClean() {
    String log =
        """
        ptxas info    : Compiling entry function 'k' for 'sm_75'
            0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
        ptxas info    : Used 8 registers
        """;
    assertThat(PtxasLog.parse(log)).singleElement().matches(ResourceUsage::isClean);
  }

  @Test
  void aLogThatIsNotVerboseTellsNothing() {
    assertThat(PtxasLog.parse("")).isEmpty();
    assertThat(PtxasLog.parse("kernel.cu(3): warning #177-D: unused")).isEmpty();
    assertThat(PtxasLog.warnings("kernel.cu(3): warning #177-D: unused")).hasSize(1);
  }
}
