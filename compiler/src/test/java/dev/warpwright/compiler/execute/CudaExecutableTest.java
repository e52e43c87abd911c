package dev.warpwright.compiler.execute;

import static dev.warpwright.compiler.execute.Digits.FEATURES;
import static dev.warpwright.compiler.execute.Digits.MODEL;
import static dev.warpwright.compiler.execute.Digits.expected;
import static dev.warpwright.compiler.execute.Digits.rows;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.OfflineGpu;
import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.buffer.DeviceStream;
import dev.warpwright.compiler.buffer.TensorBuffer;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** A network on a GPU at the driver's boundary: what is launched, replayed, copied and freed. */
@Isolated("takes the driver's place in this process")
final class CudaExecutableTest {

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
      // Another number of rows has launches of its own, and the first ones stay.
      float[] other = rows(3, 9);
      assertThat(model.run(other)).hasSize(30).containsExactly(expected(other), within(1e-4f));
      assertThat(gpu.replays()).hasSize(2);
      float[] again = rows(4, 7);
      assertThat(model.run(again)).containsExactly(expected(again), within(1e-4f));
      assertThat(gpu.replays()).hasSize(3);
    }
    assertThat(gpu.liveBuffers()).isZero();
  }

  @Test
  void launchesAreMadeAnewWhereBuffersHadToGrow() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
        CompiledModel model = compile(device)) {
      for (int rows : new int[] {3, 4, 3, 4, 4, 3}) {
        float[] x = rows(rows, rows);
        assertThat(model.run(x)).containsExactly(expected(x), within(1e-4f));
      }
      // 3, then 4 on larger buffers, both prepared anew; the last four are replays but for one.
      assertThat(gpu.replays()).hasSize(3);
    }
    assertThat(gpu.liveBuffers()).isZero();
  }

  @Test
  void deviceBuffersAreUsedInPlace() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
        CompiledModel model = compile(device);
        DeviceBuffer x = device.allocate(DType.F32, 6 * FEATURES);
        DeviceBuffer y = device.allocate(DType.F32, 6 * 10)) {
      float[] values = rows(6, 3);
      x.copyFrom(MemorySegment.ofArray(values));
      float[] expected = expected(Arrays.copyOf(values, 4 * FEATURES));
      for (int run = 0; run < 2; run++) {
        double before = gpu.now();
        model.run(4, x, y);
        // One call and the kernels, or a replay of them: no copy.
        double calls = run == 0 ? kernels.size() * FakeGpu.CALL_US : 0;
        assertThat(gpu.now() - before).isCloseTo(calls + 25 * kernels.size(), within(0.5));
        float[] result = new float[40];
        y.copyTo(MemorySegment.ofArray(result));
        assertThat(result).containsExactly(expected, within(1e-4f));
      }
      assertThat(gpu.replays()).hasSize(1);
    }
    assertThat(gpu.liveBuffers()).isZero();
  }

  @Test
  void ofFewRowsNothingIsCopiedByTheDriver() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
        CompiledModel model = compile(device)) {
      // So many rows cross the bus faster as a copy.
      int[] rows = {1, 4, 600, 3};
      int[] copies = {0, 0, 2, 0};
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < rows.length; i++) {
          float[] x = rows(rows[i], round);
          int before = gpu.hostCopies();
          assertThat(model.run(x)).containsExactly(expected(x), within(1e-4f));
          if (round > 0) {
            // In the first one constants are copied, too.
            assertThat(gpu.hostCopies() - before).as("%d rows", rows[i]).isEqualTo(copies[i]);
          }
        }
      }
    }
    assertThat(gpu.liveBuffers()).isZero();
    assertThat(gpu.livePinned()).isZero();
  }

  @Test
  void memoryOfTheHostAndOfTheDeviceGoTogether() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
        CompiledModel model = compile(device);
        DeviceBuffer x = device.allocate(DType.F32, 4 * FEATURES);
        DeviceBuffer y = device.allocate(DType.F32, 4 * 10)) {
      float[] values = rows(4, 3);
      float[] expected = expected(values);
      x.copyFrom(MemorySegment.ofArray(values));
      for (int run = 0; run < 3; run++) {
        float[] result = new float[40];
        model.run(4, x, TensorBuffer.of(result));
        assertThat(result).containsExactly(expected, within(1e-4f));
        model.run(4, TensorBuffer.of(values), y);
        Arrays.fill(result, 0);
        y.copyTo(MemorySegment.ofArray(result));
        assertThat(result).containsExactly(expected, within(1e-4f));
        assertThat(model.run(values)).containsExactly(expected, within(1e-4f));
      }
    }
    assertThat(gpu.liveBuffers()).isZero();
  }

  @Test
  void aModelLeavesNothingOnTheDevice() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80))) {
      for (int i = 0; i < 3; i++) {
        try (CompiledModel model = compile(device);
            DeviceStream stream = device.newStream();
            DeviceBuffer x = device.allocate(DType.F32, 4 * FEATURES);
            DeviceBuffer y = device.allocate(DType.F32, 4 * 10)) {
          for (int run = 0; run < 3; run++) {
            model.run(rows(4, run));
            model.run(rows(600, run));
            model.enqueue(stream, 4, x, y);
          }
          assertThat(gpu.live())
              .containsOnlyKeys("buffers", "events", "graphs", "modules", "pinned", "streams");
        }
        assertThat(gpu.live()).isEmpty();
      }
    }
  }

  @Test
  void aModelThatDoesNotFitLeavesNothingOnTheDevice() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
        CompiledModel model = compile(device)) {
      gpu.fits(1);
      assertThatThrownBy(() -> model.run(rows(4, 1)))
          .isInstanceOf(DeviceError.class)
          .hasMessageContaining("cuMemAlloc");
      assertThat(gpu.live()).isEmpty();
      gpu.fits(Integer.MAX_VALUE);
      float[] x = rows(4, 1);
      assertThat(model.run(x)).containsExactly(expected(x), within(1e-4f));
    }
  }

  @Test
  void memoryOfAnotherDeviceIsRefused() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
        CompiledModel model = compile(device);
        DeviceBuffer here = DeviceBuffer.onHost(DType.F32, 4 * FEATURES);
        DeviceBuffer y = device.allocate(DType.F32, 40)) {
      assertThatThrownBy(() -> model.run(4, here, y))
          .isInstanceOf(UserError.class)
          .hasMessage("the device buffer is the CPU's; the model runs on a GPU");
      try (CpuDevice cpu = new CpuDevice();
          CompiledModel host = MODEL.compile(cpu)) {
        assertThatThrownBy(() -> host.run(4, here, y))
            .isInstanceOf(UserError.class)
            .hasMessage("the device buffer is a GPU's; the model runs elsewhere");
      }
    }
  }

  @Test
  void whatNoKernelWritesIsNoResultOfAnEarlierVerification() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
        CompiledModel model = compile(device)) {
      float[] y = new float[40];
      Executable executable = model.executable(4);
      executable.run(4, List.of(rows(4, 1)), List.of(y));
      assertThat(y).doesNotContain(Float.NaN);
      gpu.skips(kernels.getLast());
      executable.run(4, List.of(rows(4, 1)), List.of(y));
      assertThat(y).containsOnly(Float.NaN);
    }
  }

  @Test
  void callsAreNotPoisoned() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
        CompiledModel model = compile(device)) {
      model.run(rows(4, 1));
      double before = gpu.now();
      model.run(rows(4, 1));
      // A replay and copies of host memory, which cost nothing here; a fill would cost a call.
      assertThat(gpu.now() - before).isCloseTo(25 * kernels.size(), within(0.5));
    }
  }

  @Test
  void timesAreThoseOfTheDevice() {
    try (GpuDevice device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
        CompiledModel model = compile(device)) {
      Executable executable = model.executable(4);
      executable.run(4, List.of(rows(4, 1)), List.of(new float[40]));
      Executable.Timing timing = executable.time(5);
      double one = 25 + FakeGpu.CALL_US;
      assertThat(timing.kernelUs())
          .hasSize(kernels.size())
          .allMatch(us -> Math.abs(us - one) < 0.01);
      assertThat(timing.totalUs()).isCloseTo(one * kernels.size(), within(0.05));
      assertThat(executable.kernelFacts())
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
