package dev.warpwright.compiler.execute;

import static dev.warpwright.compiler.execute.Digits.FEATURES;
import static dev.warpwright.compiler.execute.Digits.MODEL;
import static dev.warpwright.compiler.execute.Digits.expected;
import static dev.warpwright.compiler.execute.Digits.rows;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.OfflineGpu;
import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.buffer.DeviceStream;
import dev.warpwright.compiler.buffer.TensorBuffer;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Calls on the caller's streams: nobody waits, memory lives as long as it is needed. */
@Isolated("takes the driver's place in this process")
final class DeviceStreamTest {
  private static final int RESULTS = 10;

  private FakeGpu gpu;
  private GpuDevice device;
  private CompiledModel model;

  @BeforeEach
  void install() {
    gpu = FakeGpu.install();
    try (CompiledModel offline = MODEL.compile(new OfflineGpu(GpuTarget.SM_80))) {
      for (int rows : new int[] {4, 40}) {
        for (Program.Step step : offline.program(rows).program().steps()) {
          if (step instanceof Program.Launch launch) {
            gpu.knows(launch.kernel());
          }
        }
      }
    }
    device = new GpuDevice(Gpu.require(GpuTarget.SM_80));
    model = MODEL.compile(device);
  }

  @AfterEach
  void close() {
    model.close();
    device.close();
    assertThat(gpu.liveBuffers()).isZero();
    assertThat(gpu.livePinned()).isZero();
    gpu.close();
  }

  private DeviceBuffer input(int rows) {
    return device.allocate(DType.F32, (long) rows * FEATURES);
  }

  private DeviceBuffer output(int rows) {
    return device.allocate(DType.F32, (long) rows * RESULTS);
  }

  private static float[] result(DeviceBuffer y, int rows, DeviceStream stream) {
    float[] result = new float[rows * RESULTS];
    y.copyTo(MemorySegment.ofArray(result), stream);
    return result;
  }

  @Test
  void nobodyWaitsForACallAndTheNextOneIsAGraph() {
    try (DeviceStream stream = device.newStream();
        DeviceBuffer x = input(4);
        DeviceBuffer y = output(4)) {
      for (int call = 0; call < 4; call++) {
        float[] values = rows(4, call);
        x.copyFrom(MemorySegment.ofArray(values), stream);
        model.prepare(4);
        int before = gpu.waits();
        model.enqueue(stream, 4, x, y);
        assertThat(gpu.waits()).as("call %d", call).isEqualTo(before);
        assertThat(gpu.replays()).hasSize(call);
        assertThat(result(y, 4, stream)).containsExactly(expected(values), within(1e-4f));
        assertThat(stream.isDone()).isTrue();
      }
    }
  }

  @Test
  void anyRowCountsFollowEachOtherOnOneStream() {
    try (DeviceStream stream = device.newStream();
        DeviceBuffer x = input(40);
        DeviceBuffer y = output(40)) {
      for (int rows : new int[] {3, 40, 4, 0, 33, 1}) {
        float[] values = rows(rows, rows);
        x.copyFrom(MemorySegment.ofArray(values), stream);
        String in = model.inputs().getFirst().name();
        String out = model.outputs().getFirst().name();
        model.enqueue(stream, rows, Map.of(in, x), Map.of(out, y));
        float[] wanted = rows == 0 ? new float[0] : expected(values);
        assertThat(result(y, rows, stream)).containsExactly(wanted, within(1e-4f));
      }
    }
  }

  @Test
  void aStreamOfAnotherLibraryIsUsedAndLeftAlive() {
    Gpu here = Gpu.require(GpuTarget.SM_80);
    try (GpuDevice own = new GpuDevice(here);
        CudaStream theirs = here.context().newStream();
        CompiledModel there = MODEL.compile(own);
        DeviceBuffer x = own.allocate(DType.F32, 4 * FEATURES);
        DeviceBuffer y = own.allocate(DType.F32, 4 * RESULTS)) {
      float[] values = rows(4, 5);
      there.prepare(4);
      try (DeviceStream stream = own.stream(theirs.handle())) {
        assertThat(stream.cuda().handle()).isEqualTo(theirs.handle());
        x.copyFrom(MemorySegment.ofArray(values), stream);
        int before = gpu.liveStreams();
        there.enqueue(stream, 4, x, y);
        assertThat(gpu.liveStreams()).isEqualTo(before);
        assertThat(result(y, 4, stream)).containsExactly(expected(values), within(1e-4f));
        stream.close();
        assertThat(gpu.liveStreams()).isEqualTo(before);
      }
      theirs.synchronize();
    }
    assertThatThrownBy(() -> device.stream(0))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("default stream");
  }

  @Test
  void memoryOfAClosedStreamsCallsIsGivenBackWithTheNextStream() {
    try (DeviceBuffer x = input(4);
        DeviceBuffer y = output(4)) {
      int first = 0;
      for (int i = 0; i < 20; i++) {
        try (DeviceStream stream = device.newStream()) {
          model.enqueue(stream, 4, x, y);
          stream.synchronize();
        }
        first = i == 0 ? gpu.liveBuffers() + gpu.livePinned() : first;
      }
      assertThat(gpu.liveBuffers() + gpu.livePinned()).isEqualTo(first);
    }
  }

  @Test
  void aModelThatIsClosedFirstWaitsForItsCalls() {
    try (DeviceStream stream = device.newStream();
        DeviceBuffer x = input(4);
        DeviceBuffer y = output(4)) {
      model.enqueue(stream, 4, x, y);
      int before = gpu.waits();
      model.close();
      assertThat(gpu.waits()).isGreaterThan(before);
      stream.synchronize();
      assertThatThrownBy(() -> model.enqueue(stream, 4, x, y))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("compile the model again");
    }
  }

  @Test
  void whatDoesNotBelongTogetherIsRefused() {
    try (DeviceStream stream = device.newStream();
        DeviceStream closed = device.newStream();
        CpuDevice cpu = new CpuDevice();
        CompiledModel host = MODEL.compile(cpu);
        DeviceStream hosts = cpu.newStream();
        DeviceBuffer x = input(4);
        DeviceBuffer y = output(4);
        DeviceBuffer hostX = cpu.allocate(DType.F32, 4 * FEATURES);
        DeviceBuffer hostY = cpu.allocate(DType.F32, 4 * RESULTS)) {
      closed.close();
      assertThatThrownBy(() -> model.enqueue(stream, 4, TensorBuffer.of(rows(4, 1)), y))
          .isInstanceOf(UserError.class)
          .hasMessageStartingWith("a call on a stream takes device buffers");
      assertThatThrownBy(() -> model.enqueue(hosts, 4, x, y))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("another device's");
      assertThatThrownBy(() -> host.enqueue(stream, 4, hostX, hostY))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("a GPU's");
      assertThatThrownBy(() -> hostX.copyFrom(MemorySegment.ofArray(rows(4, 1)), stream))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("different devices");
      assertThatThrownBy(() -> x.copyTo(MemorySegment.ofArray(new float[4]), hosts))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("different devices");
      assertThatThrownBy(() -> model.enqueue(closed, 4, x, y))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the stream is closed");
      assertThatThrownBy(() -> model.enqueue(null, 4, x, y))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("newStream");
      assertThatThrownBy(() -> model.enqueue(stream, 5, x, y))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("5 rows of 64 features need 320");
    }
  }

  @Test
  void onTheCpuACallIsDoneWhenItReturns() {
    try (CpuDevice cpu = new CpuDevice();
        CompiledModel host = MODEL.compile(cpu);
        DeviceStream stream = cpu.newStream()) {
      for (int rows : List.of(4, 2)) {
        float[] values = rows(rows, rows);
        float[] y = new float[rows * RESULTS];
        host.enqueue(stream, rows, TensorBuffer.of(values), TensorBuffer.of(y));
        assertThat(stream.isDone()).isTrue();
        assertThat(y).containsExactly(host.run(values), within(0f));
      }
      stream.close();
      assertThatThrownBy(stream::synchronize).isInstanceOf(IllegalStateException.class);
    }
  }
}
