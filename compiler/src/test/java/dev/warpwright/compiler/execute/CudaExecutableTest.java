package dev.warpwright.compiler.execute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.DeviceError;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.Device;
import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.OfflineGpu;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Program;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** A network on a GPU at the driver's boundary: what is launched, replayed, copied and freed. */
@Isolated("takes the driver's place in this process")
final class CudaExecutableTest {
  private static final int FEATURES = 64;
  private static final Model MODEL =
      Warpwright.load(Path.of("..", "models", "digits-relu-128-64", "model.onnx"));

  private FakeGpu gpu;
  private List<String> kernels;

  @BeforeEach
  void install() {
    gpu = FakeGpu.install();
    try (CompiledModel offline = MODEL.compile(new OfflineGpu(GpuTarget.SM_80))) {
      List<Program.Launch> launches =
          offline.program(4).program().steps().stream()
              .filter(Program.Launch.class::isInstance)
              .map(Program.Launch.class::cast)
              .toList();
      launches.forEach(launch -> gpu.knows(launch.kernel()));
      kernels = launches.stream().map(launch -> CudaPrinter.functionName(launch.kernel())).toList();
    }
    kernels.forEach(kernel -> gpu.takes(kernel, 25));
  }

  @AfterEach
  void close() {
    gpu.close();
  }

  private static float[] rows(int rows, long seed) {
    Random random = new Random(seed);
    float[] x = new float[rows * FEATURES];
    for (int i = 0; i < x.length; i++) {
      x[i] = random.nextFloat() * 2 - 1;
    }
    return x;
  }

  private static float[] expected(float[] x) {
    try (Device cpu = new CpuDevice();
        CompiledModel model = MODEL.compile(cpu)) {
      return model.run(x);
    }
  }

  private static CompiledModel compile(GpuDevice device) {
    return MODEL.compile(device);
  }

  @Test
  void computesTheNetworkAndReplaysAGraphFromTheSecondRunOn() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
        CompiledModel model = compile(device)) {
      for (int run = 0; run < 3; run++) {
        float[] x = rows(4, run);
        assertThat(model.run(x)).hasSize(40).containsExactly(expected(x), within(1e-4f));
        assertThat(gpu.replays()).as("run %d", run).hasSize(run);
      }
      // Another number of rows: launches are prepared anew, and that graph is no more.
      float[] other = rows(2, 9);
      assertThat(model.run(other)).hasSize(20).containsExactly(expected(other), within(1e-4f));
      assertThat(gpu.replays()).hasSize(2);
    }
    assertThat(gpu.liveBuffers()).isZero();
  }

  @Test
  void whatNoKernelWritesIsNoResultOfAnEarlierRun() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
        CompiledModel model = compile(device)) {
      float[] x = rows(4, 1);
      assertThat(model.run(x)).doesNotContain(Float.NaN);
      gpu.skips(kernels.getLast());
      assertThat(model.run(x)).containsOnly(Float.NaN);
    }
  }

  @Test
  void timesAreThoseOfTheDevice() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
        CompiledModel model = compile(device)) {
      model.run(rows(4, 1));
      Executable.Timing timing = model.executable(4).time(5);
      double one = 25 + FakeGpu.CALL_US;
      assertThat(timing.kernelUs())
          .hasSize(kernels.size())
          .allMatch(us -> Math.abs(us - one) < 0.01);
      assertThat(timing.totalUs()).isCloseTo(one * kernels.size(), within(0.05));
      assertThat(model.executable(4).kernelFacts())
          .hasSize(kernels.size())
          .allMatch(facts -> facts.registers() == 32);
    }
  }

  @Test
  void aFaultIsToldInOneLine() {
    try (Gpu here = Gpu.require(GpuTarget.SM_80);
        CompiledModel model = compile(new GpuDevice(here))) {
      gpu.faults(kernels.getFirst());
      assertThatThrownBy(() -> model.run(rows(4, 1)))
          .isInstanceOf(DeviceError.class)
          .hasMessageContaining("failed: FAKE_ERROR_719 (the kernel faulted)")
          .message()
          .doesNotContain("\n");
      assertThat(here.context().isLost()).isTrue();
    }
  }
}
