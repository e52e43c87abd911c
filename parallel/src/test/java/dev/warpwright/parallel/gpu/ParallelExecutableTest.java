package dev.warpwright.parallel.gpu;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.DeviceError;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.parallel.nccl.NcclLibrary;
import dev.warpwright.parallel.program.ParallelCompiler;
import dev.warpwright.parallel.program.ParallelProgram;
import dev.warpwright.parallel.program.ParallelSimulation;
import dev.warpwright.runtime.cuda.NativeFunctions;
import dev.warpwright.synthetic.RandomFfn;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** On the fake driver, two GPUs of which share a process's memory, and a fake NCCL beside it. */
class ParallelExecutableTest {
  /** NCCL in Java: sums are work of the fake GPU, now or in the graph that is captured. */
  public static final class Sums implements NativeFunctions {
    private record Part(long at, long count, int type) {}

    private final FakeGpu gpu;
    private final List<Part> pending = new ArrayList<>();
    private int live;
    private int groups;

    Sums(FakeGpu gpu) {
      this.gpu = gpu;
    }

    @Override
    public Optional<MethodHandle> find(String symbol, FunctionDescriptor descriptor) {
      try {
        return Optional.of(
            MethodHandles.lookup()
                .findVirtual(Sums.class, symbol, descriptor.toMethodType())
                .bindTo(this));
      } catch (ReflectiveOperationException e) {
        return Optional.empty();
      }
    }

    public int ncclCommInitAll(long out, int number, long devices) {
      MemorySegment handles = MemorySegment.ofAddress(out).reinterpret(8L * number);
      MemorySegment ordinals = MemorySegment.ofAddress(devices).reinterpret(4L * number);
      for (int i = 0; i < number; i++) {
        assertThat(ordinals.getAtIndex(JAVA_INT, i)).isEqualTo(i);
        handles.setAtIndex(JAVA_LONG, i, 100 + i);
      }
      live += number;
      return 0;
    }

    public int ncclCommDestroy(long communicator) {
      live--;
      return 0;
    }

    public int ncclGroupStart() {
      return 0;
    }

    public int ncclAllReduce(
        long in, long out, long count, int type, int op, long communicator, long stream) {
      assertThat(in).isEqualTo(out);
      assertThat(communicator).isEqualTo(100 + pending.size());
      pending.add(new Part(in, count, type));
      return 0;
    }

    public int ncclGroupEnd() {
      List<Part> parts = List.copyOf(pending);
      pending.clear();
      groups++;
      gpu.enqueue("sum", new Object(), () -> sum(parts));
      return 0;
    }

    private static void sum(List<Part> parts) {
      assertThat(parts).hasSize(2);
      int bytes = parts.getFirst().type() == 7 ? 4 : 2;
      long count = parts.getFirst().count();
      MemorySegment a = MemorySegment.ofAddress(parts.get(0).at()).reinterpret(bytes * count);
      MemorySegment b = MemorySegment.ofAddress(parts.get(1).at()).reinterpret(bytes * count);
      for (long i = 0; i < count; i++) {
        if (bytes == 4) {
          float sum =
              a.getAtIndex(ValueLayout.JAVA_FLOAT, i) + b.getAtIndex(ValueLayout.JAVA_FLOAT, i);
          a.setAtIndex(ValueLayout.JAVA_FLOAT, i, sum);
        } else {
          float sum =
              Numerics.bf16ToFloat(a.getAtIndex(ValueLayout.JAVA_SHORT, i))
                  + Numerics.bf16ToFloat(b.getAtIndex(ValueLayout.JAVA_SHORT, i));
          a.setAtIndex(ValueLayout.JAVA_SHORT, i, Numerics.bf16Bits(sum));
        }
      }
      b.copyFrom(a);
    }
  }

  private static ParallelCompiler compiler(Graph graph, Precision precision) {
    return new ParallelCompiler(graph, new SimulatedDevice(GpuTarget.SM_80), precision, 2);
  }

  private static List<float[]> inputs(ParallelProgram parallel) {
    Random random = new Random(7);
    List<float[]> inputs = new ArrayList<>();
    parallel
        .graph()
        .inputs()
        .forEach(
            value -> {
              float[] x = new float[parallel.rows() * value.features()];
              for (int i = 0; i < x.length; i++) {
                x[i] = (random.nextInt(256) - 128) / 128f;
              }
              inputs.add(x);
            });
    return inputs;
  }

  /** What the simulator computes, the GPUs compute. */
  private static void same(ParallelProgram parallel, int groups) {
    List<float[]> inputs = inputs(parallel);
    List<float[]> right = new ParallelSimulation(parallel).run(inputs).outputs();
    try (FakeGpu gpu = FakeGpu.install().devices(2)) {
      parallel.program().kernels().forEach(gpu::knows);
      Sums sums = new Sums(gpu);
      try (GpuGroup group = GpuGroup.open(GpuTarget.SM_80, 2, new NcclLibrary(sums));
          ParallelExecutable executable = new ParallelExecutable(parallel, group)) {
        for (int again = 0; again < 2; again++) {
          List<float[]> got = executable.run(inputs);
          for (int i = 0; i < right.size(); i++) {
            assertThat(got.get(i)).isEqualTo(right.get(i));
          }
        }
        assertThat(sums.groups).isEqualTo(2 * groups);
        assertThat(executable.time(1, 1)).isPositive();
        // Captured once, replayed as often as it takes.
        assertThat(sums.groups).isEqualTo(3 * groups);
        assertThat(executable.run(inputs).getFirst()).isEqualTo(right.getFirst());
      }
      assertThat(sums.live).isZero();
      assertThat(gpu.liveBuffers()).isZero();
    }
  }

  @Test
  void twoGpusComputeWhatTheSimulatorDoes() {
    Graph graph = new RandomFfn(32, 48, true, Activation.SILU, true).graph(DType.BF16, 2);
    same(compiler(graph, Precision.BF16).tensor(20, 2), 2);
    Graph mlp =
        RandomMlp.of(
            new Architecture.Mlp(List.of(12, 17, 20, 9, 8), List.of("relu", "relu", "relu")),
            true,
            DType.F32,
            3);
    same(compiler(mlp, Precision.F32).tensor(7, 1), 2);
    same(compiler(mlp, Precision.F32).data(7), 0);
  }

  @Test
  void tooFewGpusAreToldInOneLine() {
    try (FakeGpu gpu = FakeGpu.install()) {
      assertThatThrownBy(() -> GpuGroup.open(GpuTarget.SM_80, 2, true))
          .isInstanceOf(DeviceError.class)
          .hasMessage("--gpus 2: 1 GPU here runs sm_80; give fewer, or --target sim");
      assertThat(gpu.liveBuffers()).isZero();
    }
    try (FakeGpu gpu = FakeGpu.install().devices(2)) {
      NcclLibrary old = new NcclLibrary(new Sums(gpu));
      assertThat(old).isNotNull();
      assertThatThrownBy(() -> new NcclLibrary((symbol, descriptor) -> Optional.empty()))
          .isInstanceOf(DeviceError.class)
          .hasMessageContaining("this NCCL has no ncclAllReduce");
    }
  }
}
