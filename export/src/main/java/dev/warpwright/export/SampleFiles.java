package dev.warpwright.export;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.export.Exported.Sample;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.synthetic.NetworkDeviation;
import dev.warpwright.synthetic.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * A model's constants, random rows, and what the model makes of them in double precision: of all,
 * or of as many as that is computed of in a moment, drawn from the whole.
 */
final class SampleFiles {
  /** Multiply-adds that the reference computes in a moment. */
  static final long REFERENCE_WORK = 150_000_000L;

  private static final int FEWEST_ROWS = 4;

  /** Inputs are an array, in 8 bytes an element at most. */
  private static final long MOST_ELEMENTS = (1L << 28) - 2;

  /** The file of constants. */
  static final String CONSTANTS = "constants.bin";

  /** The file of the weights that they are made of. */
  static final String WEIGHTS = "weights.safetensors";

  private static final long SEED = 1;

  /** Vector loads and TMA copies of a constant begin at multiples of at most this. */
  private static final int ALIGNMENT = 256;

  /** The file of the rows that have expected values, where not all have, as 32-bit integers. */
  static final String COMPARED = "compared.rows.bin";

  private SampleFiles() {}

  /** The file with rows of an input. */
  static String input(String name) {
    return name + ".bin";
  }

  /** The file with the expected rows of an output, in f32. */
  static String expected(String name) {
    return name + ".expected.bin";
  }

  /** The file with what honest arithmetic may add to them, in f32. */
  static String deviation(String name) {
    return name + ".deviation.bin";
  }

  /**
   * Makes the files.
   *
   * @param work multiply-adds that the reference computes
   */
  static Sample of(
      Model model, CompiledProgram compiled, int rows, long work, Signature signature) {
    Map<String, byte[]> files = new LinkedHashMap<>();
    Map<Buffer, Long> offsets = new LinkedHashMap<>();
    ConstantStore store = new ConstantStore();
    long end = 0;
    for (PackedConstant constant : compiled.constants()) {
      offsets.put(constant.buffer(), end);
      long bytes = constant.buffer().storageElements() * constant.buffer().dtype().bytes();
      end = (end + bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }
    if (end > Integer.MAX_VALUE - 8) {
      throw new UserError("the model has " + end + " bytes of constants; export writes 2^31 - 9");
    }
    ByteBuffer constants = ByteBuffer.allocate((int) end).order(ByteOrder.LITTLE_ENDIAN);
    for (PackedConstant constant : compiled.constants()) {
      constants.position((int) (long) offsets.getOrDefault(constant.buffer(), 0L));
      switch (store.array(constant)) {
        case float[] a -> constants.asFloatBuffer().put(a);
        case short[] a -> constants.asShortBuffer().put(a);
        case int[] a -> constants.asIntBuffer().put(a);
        default -> throw new IllegalStateException("no storage of " + constant.buffer());
      }
    }
    if (end > 0) {
      files.put(CONSTANTS, constants.array());
    }
    Random random = new Random(SEED);
    List<float[]> inputs = new ArrayList<>();
    for (Buffer input : compiled.network().inputs()) {
      if (rows > MOST_ELEMENTS / Math.max(1, input.extent(1))) {
        throw new UserError(
            rows + " rows of " + input.name() + " are too many for an array; take fewer rows");
      }
      float[] values = new float[Math.toIntExact(rows * input.extent(1))];
      for (int i = 0; i < values.length; i++) {
        values[i] = (float) rounded(random.nextGaussian(), input.dtype());
      }
      inputs.add(values);
      // Programs for a number of rows read whole tiles of rows.
      int read =
          input.hasConstantShape() ? Math.toIntExact(input.storageElements()) : values.length;
      files.put(
          input(signature.text().of(input)), bytes(Arrays.copyOf(values, read), input.dtype()));
    }
    Reference reference = new Reference(model.graph());
    int[] compared = compared(rows, work / Math.max(1, reference.work()));
    if (compared.length < rows) {
      ByteBuffer chosen = ByteBuffer.allocate(4 * compared.length).order(ByteOrder.LITTLE_ENDIAN);
      chosen.asIntBuffer().put(compared);
      files.put(COMPARED, chosen.array());
    }
    List<float[]> x = inputs.stream().map(all -> rows(all, rows, compared)).toList();
    List<double[]> outputs = reference.outputs(compared.length, x);
    List<double[]> wide = x.stream().map(SampleFiles::widen).toList();
    List<double[]> deviations =
        NetworkDeviation.of(model.graph(), compiled.precision(), compared.length, wide);
    for (int i = 0; i < outputs.size(); i++) {
      String output = signature.text().of(compiled.network().outputs().get(i));
      files.put(expected(output), bytes(narrow(outputs.get(i)), DType.F32));
      files.put(deviation(output), bytes(narrow(deviations.get(i)), DType.F32));
    }
    ModelWeights weights = new ModelWeights(compiled.constants());
    if (!weights.names().isEmpty()) {
      files.put(WEIGHTS, weights.safetensors());
    }
    return new Sample(
        rows,
        compared.length,
        compiled.precision().tolerance(),
        files,
        offsets,
        weights,
        CONSTANTS);
  }

  /** All rows, or the first, the last and some between, which the reference has the time for. */
  private static int[] compared(int rows, long most) {
    long affordable = Math.max(FEWEST_ROWS, most);
    if (rows <= affordable) {
      return IntStream.range(0, rows).toArray();
    }
    return IntStream.concat(IntStream.of(0, rows - 1), new Random(SEED).ints(0, rows))
        .distinct()
        .limit(affordable)
        .sorted()
        .toArray();
  }

  private static float[] rows(float[] all, int rows, int[] chosen) {
    int features = all.length / rows;
    float[] some = new float[chosen.length * features];
    for (int i = 0; i < chosen.length; i++) {
      System.arraycopy(all, chosen[i] * features, some, i * features, features);
    }
    return some;
  }

  private static double[] widen(float[] values) {
    double[] wide = new double[values.length];
    Arrays.setAll(wide, i -> values[i]);
    return wide;
  }

  private static float[] narrow(double[] values) {
    float[] narrow = new float[values.length];
    for (int i = 0; i < values.length; i++) {
      narrow[i] = (float) values[i];
    }
    return narrow;
  }

  /** As the type holds it, so that the reference computes with what the kernels read. */
  private static double rounded(double value, DType dtype) {
    return switch (dtype) {
      case F16 -> Float.float16ToFloat(Numerics.f16Bits(value));
      case BF16 -> Float.intBitsToFloat(Numerics.bf16Bits(value) << 16);
      case F32, F64, BOOL, I8, U8, I32, U32, I64, U64, F8E4M3, F8E5M2, MBARRIER, HANDLE -> value;
    };
  }

  private static byte[] bytes(float[] values, DType dtype) {
    ByteBuffer bytes =
        ByteBuffer.allocate(values.length * dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      switch (dtype) {
        case F32 -> bytes.putFloat(value);
        case F16 -> bytes.putShort(Numerics.f16Bits(value));
        case BF16 -> bytes.putShort(Numerics.bf16Bits(value));
        case F64, BOOL, I8, U8, I32, U32, I64, U64, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
            throw new UserError("inputs of type " + dtype + " are not exported");
      }
    }
    return bytes.array();
  }
}
