package dev.warpwright.measure.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.measure.fake.FakeCublas;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.measure.network.LibraryLayers.Layer;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Layers by cuBLASLt at the driver's boundary: what is computed, checked and timed. */
@Isolated("takes the driver's place in this process")
final class LibraryNetworkTest {
  private static final int ROWS = 3;
  private static final int WIDTH = 8;
  private static final int HIDDEN = 12;

  private final SplittableRandom random = new SplittableRandom(7);

  private float[] numbers(int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextDouble(-1, 1);
    }
    return numbers;
  }

  private static double[] wide(float[] x) {
    double[] wide = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      wide[i] = x[i];
    }
    return wide;
  }

  private static double[] linear(double[] x, int k, float[] w) {
    int n = w.length / k;
    double[] y = new double[x.length / k * n];
    for (int i = 0; i < y.length; i++) {
      for (int j = 0; j < k; j++) {
        y[i] += x[i / n * k + j] * w[i % n * k + j];
      }
    }
    return y;
  }

  private static double[] each(double[] x, DoubleUnaryOperator f) {
    return java.util.Arrays.stream(x).map(f).toArray();
  }

  private static List<MemorySegment> segments(float[]... arrays) {
    List<MemorySegment> segments = new ArrayList<>();
    for (float[] array : arrays) {
      segments.add(MemorySegment.ofArray(array));
    }
    return segments;
  }

  private static NetworkData data(float[] x, double[] y) {
    double[] deviations = new double[y.length];
    java.util.Arrays.fill(deviations, 1e-4);
    return new NetworkData(
        ROWS, x.length / WIDTH, List.of(x), List.of(y), List.of(deviations), 1e-3, 1);
  }

  /** What the bench says of the library beside a program that does nothing. */
  private static NetworkResult library(NetworkData data, LibraryLayers layers, int rounds) {
    Buffer x = Buffer.of("x", DType.F32, Scope.GLOBAL, ROWS, WIDTH);
    Buffer y = Buffer.of("y", DType.F32, Scope.GLOBAL, ROWS, WIDTH);
    Program nothing =
        new Program(
            "nothing",
            List.of(
                new Program.ProgramParam(Program.Role.INPUT, x),
                new Program.ProgramParam(Program.Role.OUTPUT, y)),
            List.of(),
            List.of());
    try (Gpu device = Gpu.find().orElseThrow();
        NetworkBench bench = new NetworkBench(device, data, rounds, false, line -> {})) {
      List<NetworkResult> results =
          bench
              .run(List.of(new NetworkProgram("nothing", nothing, ROWS, Map.of())), layers)
              .results();
      assertThat(results).hasSize(2);
      assertThat(results.getFirst().failure()).isNotNull();
      return results.getLast();
    }
  }

  private static FakeCublas cublas() {
    FakeCublas.Algorithm slow = new FakeCublas.Algorithm(900_000, 0);
    FakeCublas.Algorithm refused = new FakeCublas.Algorithm(1, 0, true);
    FakeCublas.Algorithm fast = new FakeCublas.Algorithm(500_000, 0);
    return new FakeCublas(slow, List.of(slow, refused, fast));
  }

  /** The gated block of random weights, and what it makes of x. */
  private record Gated(LibraryLayers layers, float[] gate, float[] up, float[] down) {
    static Gated of(LibraryNetworkTest test) {
      float[] gate = test.numbers(HIDDEN * WIDTH);
      float[] up = test.numbers(HIDDEN * WIDTH);
      float[] down = test.numbers(WIDTH * HIDDEN);
      return new Gated(
          new LibraryLayers(
              Precision.F32,
              List.of(
                  new Layer(HIDDEN, WIDTH, segments(gate, up), List.of(), Activation.SILU),
                  new Layer(WIDTH, HIDDEN, segments(down), List.of(), Activation.NONE))),
          gate,
          up,
          down);
    }

    NetworkData data(float[] x) {
      double[] inner = each(linear(wide(x), WIDTH, gate), v -> v / (1 + Math.exp(-v)));
      double[] let = linear(wide(x), WIDTH, up);
      for (int i = 0; i < inner.length; i++) {
        inner[i] *= let[i];
      }
      return LibraryNetworkTest.data(x, linear(inner, HIDDEN, down));
    }
  }

  @Test
  void aGatedBlockIsOneGemmOfBothProjectionsAndOneKernelBetween() {
    Gated block = Gated.of(this);
    Kernel between = ActivationKernel.of(Activation.SILU, true, ROWS, HIDDEN, DType.F32);
    try (FakeGpu gpu = FakeGpu.install(cublas())) {
      gpu.knows(between).takes(CudaPrinter.functionName(between), 100_000);
      NetworkResult verified = library(block.data(numbers(ROWS * WIDTH)), block.layers(), 0);
      assertThat(verified.failure()).isNull();
      // All rows alike: the device at hand does not repeat in a graph what has the same arguments.
      NetworkResult timed = library(block.data(numbers(WIDTH)), block.layers(), 3);
      assertThat(timed.failure()).isNull();
      assertThat(timed.name()).isEqualTo("cuBLASLt: 3 launches, 2 of them GEMMs");
      assertThat(java.util.Objects.requireNonNull(timed.times()).micros())
          .isCloseTo(1_100_000, within(1.0));
      assertThat(gpu.liveBuffers()).isZero();
      gpu.breaks(CudaPrinter.functionName(between));
      NetworkResult broken = library(block.data(numbers(ROWS * WIDTH)), block.layers(), 0);
      assertThat(java.util.Objects.requireNonNull(broken.failure()).reason())
          .isEqualTo(FailureReason.REJECTED);
    }
  }

  @Test
  void anActivationAndABiasAreAnEpilogue() {
    float[] x = numbers(ROWS * WIDTH);
    float[] up = numbers(HIDDEN * WIDTH);
    float[] added = numbers(HIDDEN);
    float[] down = numbers(WIDTH * HIDDEN);
    double[] inner = linear(wide(x), WIDTH, up);
    for (int i = 0; i < inner.length; i++) {
      inner[i] = Math.max(0, inner[i] + added[i % HIDDEN]);
    }
    NetworkData data = data(x, linear(inner, HIDDEN, down));
    try (FakeGpu _ = FakeGpu.install(cublas())) {
      NetworkResult result = library(data, relu(up, down, segments(added)), 3);
      assertThat(result.failure()).isNull();
      assertThat(result.name()).isEqualTo("cuBLASLt: 2 launches, 2 of them GEMMs");
      assertThat(java.util.Objects.requireNonNull(result.times()).micros())
          .isCloseTo(1_000_000, within(1.0));
      // The bias belongs to the result: without it the library is no baseline.
      assertThat(library(data, relu(up, down, List.of()), 0).failure()).isNotNull();
    }
  }

  private static LibraryLayers relu(float[] up, float[] down, List<MemorySegment> biases) {
    return new LibraryLayers(
        Precision.F32,
        List.of(
            new Layer(HIDDEN, WIDTH, segments(up), biases, Activation.RELU),
            new Layer(WIDTH, HIDDEN, segments(down), List.of(), Activation.NONE)));
  }

  /** 16 bytes of a row are a thread's, which is what a compiler has to make of it. */
  @Test
  void theKernelBetweenReadsAndWritesSixteenBytes() {
    Kernel kernel = ActivationKernel.of(Activation.SILU, true, 64, 14336, DType.BF16);
    assertThat(Verifier.verify(kernel)).isEmpty();
    String text = CudaPrinter.print(kernel, GpuTarget.SM_90A);
    assertThat(text)
        .contains("*(Vec<bf16, 8>*)gate = *(const Vec<bf16, 8>*)&x[")
        .contains("= *(const Vec<bf16, 8>*)result;");
  }
}
