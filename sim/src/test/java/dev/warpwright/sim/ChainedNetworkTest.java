package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Networks whose layers are chained in registers, executed. */
class ChainedNetworkTest {
  private static final long SEED = Long.getLong("seed", 79);

  /** Rows so few that a warpgroup has no tile, and so many that all have several. */
  @ParameterizedTest
  @CsvSource({
    "64, 4, f16, 64, 1",
    "64, 4, f16, 290, 1",
    "64, 8, bf16, 1, 3",
    "64, 8, f16, 130, 1",
    "128, 4, f16, 250, 1",
    "128, 8, f16, 1, 2",
    "128, 8, f16, 250, 1",
    "128, 8, bf16, 70, 2",
  })
  void isCorrectAndClean(int width, int layers, String type, int rows, int blocks) {
    Kernel kernel = kernel(width, layers, type);
    assertThat(Verifier.verify(kernel)).isEmpty();
    for (GridOptions options : KernelFilesTest.ORDERS) {
      Network network = Network.random(kernel, width, layers, rows, blocks);
      GridInterpreter interpreter = new GridInterpreter(kernel, options);
      assertThat(interpreter.check(network.arguments)).as("%s", options).isEmpty();
      assertThat(interpreter.replays()).as("bytecode finds nothing suspicious").isZero();
      Verification v = network.compared();
      assertThat(v.within(type.equals("f16") ? 1e-3 : 8e-3))
          .as("%s: %s, seed %d", options, v, SEED)
          .isTrue();
    }
  }

  /** One of the kernels in text; those in bf16 differ in the type only. */
  static Kernel kernel(int width, int layers, String type) {
    String text = KernelTexts.file("mlp_f16_sm90_" + width + "x" + layers);
    return KernelTexts.parse(text.replace("f16", type));
  }

  /** Arguments of a kernel, and what it is to make of them. */
  record Network(Arguments arguments, double[][] weights, int width) {
    /** With random inputs, and weights that keep them as large as they are. */
    static Network random(Kernel kernel, int width, int layers, int rows, int blocks) {
      Arguments arguments = Arguments.random(kernel.params(), SEED, Map.of("M", rows, "G", blocks));
      Random random = new Random(SEED);
      double scale = Math.sqrt(2.0 / width);
      NdArray packed = arguments.get("W");
      double[][] weights = new double[layers][width * width];
      for (int l = 0; l < layers; l++) {
        for (int n = 0; n < width; n++) {
          for (int k = 0; k < width; k++) {
            int row = l == layers - 1 ? outputRow(n) : n;
            int column = l == 0 ? inputColumn(k) : k;
            packed.set(scale * random.nextGaussian(), l, n, k);
            weights[l][row * width + column] = packed.get(l, n, k);
          }
        }
      }
      arguments.get("y").poison();
      return new Network(arguments, weights, width);
    }

    /** The column of the input that a slot of the packed first layer takes. */
    static int inputColumn(int slot) {
      int j = slot % 16;
      return slot / 32 * 32 + j % 8 / 2 * 8 + slot / 16 % 2 * 4 + j / 8 * 2 + j % 2;
    }

    /** The column of the output that a row of the packed last layer makes. */
    static int outputRow(int slot) {
      return slot / 32 * 32 + slot % 8 / 2 * 8 + slot % 32 / 8 * 2 + slot % 2;
    }

    /** The result, compared with one in f64 that rounds between layers as the kernel does. */
    Verification compared() {
      NdArray y = arguments.get("y");
      DType type = y.dtype();
      NdArray values = arguments.get("x");
      int rows = (int) values.shape()[0];
      for (int l = 0; l < weights.length; l++) {
        NdArray w = NdArray.ofDoubles(DType.F64, weights[l], width, width);
        values = KernelTexts.product(values, w);
        if (l < weights.length - 1) {
          double[] rectified = values.toDoubles();
          for (int i = 0; i < rectified.length; i++) {
            rectified[i] = Math.max(0, rectified[i]);
          }
          values = NdArray.ofDoubles(type, rectified, rows, width);
        }
      }
      return Verification.compare(y.to(DType.F64), values);
    }
  }
}
