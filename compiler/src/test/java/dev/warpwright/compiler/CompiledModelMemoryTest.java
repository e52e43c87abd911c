package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.buffer.TensorBuffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Value;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a model may be given, and what is said of what it may not be given. */
class CompiledModelMemoryTest {
  private static final int ROWS = 5;
  private static final int IN = 64;
  private static final int OUT = 10;

  private static CpuDevice device;
  private static CompiledModel model;
  private static Model file;
  private static float[] x;
  private static float[] expected;
  private static String input;
  private static String output;

  @BeforeAll
  static void compile() {
    RealModel digits = RealModel.of("digits-relu-128-64/model.onnx");
    device = new CpuDevice();
    file = digits.load();
    model = file.compile(device);
    x = Arrays.copyOf(digits.input(), ROWS * IN);
    expected = model.run(x);
    input = model.inputs().getFirst().name();
    output = model.outputs().getFirst().name();
  }

  @AfterAll
  static void close() {
    model.close();
    device.close();
  }

  @Test
  void arraysAreFilled() {
    float[] y = new float[ROWS * OUT];
    model.run(x, y);
    assertThat(y).isEqualTo(expected);
  }

  @Test
  void floatBuffersAreReadFromTheirPositionAndKeepIt() {
    FloatBuffer heap = FloatBuffer.allocate(x.length + 7).position(3);
    heap.put(x).position(3).limit(3 + x.length);
    FloatBuffer direct =
        ByteBuffer.allocateDirect(4 * (expected.length + 2))
            .order(ByteOrder.nativeOrder())
            .asFloatBuffer()
            .position(2);
    model.run(heap, direct);
    float[] y = new float[expected.length];
    direct.get(2, y);
    assertThat(y).isEqualTo(expected);
    assertThat(heap.position()).isEqualTo(3);
    assertThat(direct.position()).isEqualTo(2);
  }

  @Test
  void segmentsOffTheHeapNeedNoAlignment() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment from = arena.allocate(4L * x.length + 2).asSlice(2);
      MemorySegment to = arena.allocate(4L * expected.length + 2).asSlice(2);
      MemorySegment.copy(MemorySegment.ofArray(x), 0, from, 0, 4L * x.length);
      model.run(from, to);
      assertThat(to.toArray(ValueLayout.JAVA_FLOAT_UNALIGNED)).isEqualTo(expected);
    }
  }

  @Test
  void deviceBuffersMayBeLongerThanACall() {
    try (DeviceBuffer from = device.allocate(DType.F32, 9 * IN);
        DeviceBuffer to = device.allocate(DType.F32, 9 * OUT)) {
      from.copyFrom(MemorySegment.ofArray(x));
      for (int rows : new int[] {ROWS, 2, 9}) {
        model.run(rows, from, to);
        int checked = Math.min(rows, ROWS) * OUT;
        assertThat(Arrays.copyOf(to.toFloats(), checked))
            .containsExactly(Arrays.copyOf(expected, checked), within(1e-5f));
      }
      to.close();
      assertThatThrownBy(() -> model.run(2, from, to))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the device buffer is closed");
    }
  }

  /** Kernels of GPUs take 16 bits as they are; those of the CPU have them widened on the way. */
  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void sixteenBitsGoInAndOut(Precision precision) {
    DType type = precision == Precision.F16 ? DType.F16 : DType.BF16;
    short[] bits = new short[x.length];
    float[] rounded = new float[x.length];
    for (int i = 0; i < x.length; i++) {
      bits[i] = bits(x[i], type);
      rounded[i] = value(bits[i], type);
    }
    try (CompiledModel narrow = linear(type).compile(device, precision);
        CompiledModel gpu = linear(type).compile(new OfflineGpu(GpuTarget.SM_80), precision)) {
      assertThat(narrow.inputType(0, ROWS)).isEqualTo(DType.F32);
      assertThat(gpu.inputType(0, ROWS)).isEqualTo(type);
      assertThat(gpu.outputType(0, ROWS)).isEqualTo(type);
      float[] wide = narrow.run(rounded);
      float[] y = new float[ROWS * OUT];
      narrow.run(TensorBuffer.of(bits, type), TensorBuffer.of(y));
      assertThat(y).isEqualTo(wide);
      short[] out = new short[y.length];
      narrow.run(
          TensorBuffer.of(MemorySegment.ofArray(bits), type),
          TensorBuffer.of(MemorySegment.ofArray(out), type));
      for (int i = 0; i < out.length; i++) {
        assertThat(out[i]).isEqualTo(bits(wide[i], type));
      }
    }
  }

  /** A layer of which the file says that it takes and gives numbers of a type. */
  private static Model linear(DType type) {
    double[] weights = new Random(7).doubles((long) OUT * IN, -0.3, 0.3).toArray();
    List<Dim> rows = List.of(new Dim.Symbolic("rows"));
    Value from = new Value("from", type, IN, rows);
    Value to = new Value("to", type, OUT, rows);
    ConstantTensor weight =
        ConstantTensor.ofDoubles("w", type, List.of((long) OUT, (long) IN), weights);
    return new Model(
        new Graph(
            "linear",
            List.of(from),
            List.of(to),
            List.of(new Linear(to, from, weight, null, "linear"))));
  }

  private static short bits(float value, DType type) {
    if (type == DType.F16) {
      return Float.floatToFloat16(value);
    }
    int bits = Float.floatToRawIntBits(value);
    return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
  }

  private static float value(short bits, DType type) {
    return type == DType.F16 ? Float.float16ToFloat(bits) : Float.intBitsToFloat(bits << 16);
  }

  @Test
  void rowCountsChangeFromCallToCall() {
    for (int rows : new int[] {1, 5, 0, 3, 5, 1, 4}) {
      float[] y = model.run(Arrays.copyOf(x, rows * IN));
      assertThat(y).hasSize(rows * OUT);
      assertThat(y).containsExactly(Arrays.copyOf(expected, rows * OUT), within(1e-5f));
    }
  }

  @Test
  void aSimulatedGpuTakesThemToo() {
    try (Device simulated = new SimulatedDevice(GpuTarget.SM_80);
        CompiledModel there = file.compile(simulated);
        DeviceBuffer to = simulated.allocate(DType.F32, ROWS * OUT)) {
      there.run(ROWS, TensorBuffer.of(x), to);
      assertThat(to.toFloats()).containsExactly(expected, within(1e-4f));
    }
  }

  @Test
  void futuresGiveResultsAndErrors() throws Exception {
    assertThat(model.runAsync(x).get()).isEqualTo(expected);
    float[] y = new float[ROWS * OUT];
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      model
          .runAsync(Map.of(input, TensorBuffer.of(x)), Map.of(output, TensorBuffer.of(y)), threads)
          .get();
      assertThat(y).isEqualTo(expected);
    }
    assertThatThrownBy(() -> model.runAsync(new float[IN + 1]).get())
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(UserError.class);
  }

  @Test
  void rowsAndIndicesThatThereAreNoneOfAreTold() {
    refused(() -> model.prepare(-1), "rows = -1: kernels are for 1 row or more");
    refused(() -> model.program(0), "rows = 0: kernels are for 1 row or more");
    refused(() -> model.executable(-5), "rows = -5: kernels are for 1 row or more");
    refused(() -> model.cudaSource(-1), "rows = -1: kernels are for 1 row or more");
    refused(() -> model.inputType(1, 1), "index = 1: the model has 1 inputs, from 0 on");
    refused(() -> model.outputType(-1, 1), "index = -1: the model has 1 outputs, from 0 on");
    refused(
        () -> model.prepare(Integer.MAX_VALUE),
        "rows = 2147483647: the input '"
            + input
            + "' would have more elements than an array of Java");
    refused(
        () -> file.compile(device, Precision.F32, -1),
        "rows = -1: it is 1 or more, or 0 to compile nothing yet");
    refused(() -> file.compile(null), "device is null; take Device.best() or new CpuDevice()");
    refused(() -> file.compile(device, null), "precision is null; leave it out for the file's");
  }

  @Test
  void whatIsWrongIsToldInOneLine() {
    float[] y = new float[OUT];
    refused(
        () -> model.run((float[]) null),
        "the input '" + input + "' is null; it needs 1 rows of 64 features");
    refused(
        () -> model.run(new float[65]),
        "the input '" + input + "' has 65 elements, which are no whole rows of 64 features");
    refused(
        () -> model.run(x, y),
        "the output '" + output + "' has 10 elements, 5 rows of 10 features need 50");
    refused(() -> model.run(x, null), "the array is null; a float[] of whole rows is needed");
    refused(
        () -> model.run(2, TensorBuffer.of(x), TensorBuffer.of(y)),
        "the output '" + output + "' has 10 elements, 2 rows of 10 features need 20");
    refused(
        () -> model.run(-1, TensorBuffer.of(x), TensorBuffer.of(y)),
        "a model runs 0 or more rows, not -1");
    refused(
        () -> model.run(Map.of("wrong", TensorBuffer.of(x)), Map.of()),
        "the model has no input 'wrong'; it needs '" + input + "' of 64 features");
    refused(
        () -> model.run(Map.of(input, TensorBuffer.of(x)), Map.of()),
        "there is nothing for the model's output '"
            + output
            + "'; it needs '"
            + output
            + "' of 10 features");
    refused(
        () -> model.runAll((Map<String, float[]>) null),
        "the map of inputs is null; it needs '" + input + "' of 64 features");
    refused(
        () -> TensorBuffer.of(MemorySegment.ofArray(new byte[6]), DType.F32),
        "the memory segment has 6 bytes, which are no whole elements of 4 bytes (f32)");
    refused(
        () -> TensorBuffer.of(new short[4], DType.F32),
        "a short[] holds the bits of f16 or bf16 numbers, not of f32");
    refused(() -> device.allocate(DType.I32, 4), "models take and give f32, f16 and bf16, not i32");
    refused(
        () -> TensorBuffer.of(ByteBuffer.allocate(16).order(other()).asFloatBuffer()),
        "the FloatBuffer's byte order is "
            + other()
            + ", this machine's is "
            + ByteOrder.nativeOrder()
            + "; give the ByteBuffer order(ByteOrder.nativeOrder()) before asFloatBuffer()");
    // A read-only output cannot be written, and nothing else comes of it.
    assertThatThrownBy(
            () ->
                model.run(
                    TensorBuffer.of(x),
                    TensorBuffer.of(FloatBuffer.wrap(new float[50]).asReadOnlyBuffer())))
        .isInstanceOf(UserError.class)
        .hasMessage("the output '" + output + "' is read-only");
    refused(
        () ->
            model.run(
                TensorBuffer.of(x),
                TensorBuffer.of(MemorySegment.ofArray(x).asSlice(0, 200), DType.F32)),
        "the output '"
            + output
            + "' overlaps the input '"
            + input
            + "'; give it memory of its own");
    assertThatCode(() -> model.run(x)).doesNotThrowAnyException();
  }

  private static ByteOrder other() {
    return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
        ? ByteOrder.LITTLE_ENDIAN
        : ByteOrder.BIG_ENDIAN;
  }

  private static void refused(Runnable call, String message) {
    assertThatThrownBy(call::run).isInstanceOf(UserError.class).hasMessage(message);
  }
}
