package dev.warpwright.examples.lowering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.Nvcc;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.target.GpuTarget;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * The tile programs that are written by hand: the passes lower them, their kernels are clean in the
 * simulator and compute what the programs do in the interpreter.
 */
class HandWrittenTest {
  private static final long SEED = Long.getLong("seed", 17);

  @SuppressWarnings("unused") // By name.
  private static final List<HandWritten> SMALL = HandWritten.SMALL;

  private static final List<GridOptions> WAYS =
      List.of(
          GridOptions.DEFAULT
              .withWarps(GridOptions.WarpChoice.LAST)
              .withBlocks(Options.Order.REVERSE, 4),
          GridOptions.random(SEED));

  private static Arguments arguments(HandWritten example, List<? extends Param> params) {
    Arguments arguments =
        Arguments.random(
            params,
            SEED,
            example instanceof RegisterChainedNetwork ? Map.of("M", 277L, "G", 1L) : Map.of());
    for (Param param : params) {
      if (param instanceof Buffer buffer && buffer.name().equals("W") && buffer.rank() == 3) {
        // So that layers neither grow nor vanish.
        NdArray weights = arguments.get(buffer);
        double scale = Math.sqrt(6.0 / buffer.extent(1));
        for (int i = 0; i < weights.size(); i++) {
          weights.setElement(i, weights.element(i) * scale);
        }
      }
    }
    return arguments;
  }

  private static NdArray result(Arguments arguments, List<? extends Param> params) {
    return arguments.get(
        params.stream()
            .filter(p -> p instanceof Buffer b && List.of("y", "Y", "H", "O").contains(b.name()))
            .map(p -> (Buffer) p)
            .reduce((a, b) -> b)
            .orElseThrow());
  }

  private static void assertClose(NdArray got, NdArray expected, double tolerance) {
    double difference = 0;
    double size = 0;
    for (int i = 0; i < expected.size(); i++) {
      double d = got.element(i) - expected.element(i);
      difference += d * d;
      size += expected.element(i) * expected.element(i);
    }
    assertThat(size).isGreaterThan(0);
    assertThat(Math.sqrt(difference / size)).isLessThan(tolerance);
  }

  @ParameterizedTest
  @FieldSource("SMALL")
  void computesWhatTheProgramDoes(HandWritten example) {
    PrimFunc func = example.program();
    assertThat(Verifier.verify(func)).as(IrPrinter.text(func)).isEmpty();
    Arguments expected = arguments(example, func.params());
    Interpreter.of(func, Options.CHECKED).run(expected);
    Kernel kernel = example.kernel(PassListener.NONE);
    assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    for (GridOptions way : WAYS) {
      Arguments arguments = arguments(example, kernel.params());
      for (Buffer buffer : kernel.buffers()) {
        if (buffer.name().equals("counters")) {
          arguments.get(buffer).fill(0);
        } else if (buffer.name().equals("order")) {
          List<Integer> table = FusedOrder.table(kernel.attrs());
          for (int i = 0; i < table.size(); i++) {
            arguments.get(buffer).setElement(i, table.get(i));
          }
        }
      }
      result(arguments, kernel.params()).poison();
      assertThat(new GridInterpreter(kernel, way).check(arguments)).as("%s", way).isEmpty();
      assertClose(
          result(arguments, kernel.params()),
          result(expected, func.params()),
          example.name().contains("bf16") ? 4e-3 : 5e-4);
    }
  }

  /** Against the formula, not against another way to run the same program. */
  @Test
  void attentionIsASoftmaxOfScores() {
    FusedAttention example = new FusedAttention("f16", 2, 128, 64, 64, 1);
    PrimFunc func = example.program();
    Arguments arguments = arguments(example, func.params());
    Interpreter.of(func, Options.CHECKED).run(arguments);
    NdArray q = arguments.get("Q");
    NdArray k = arguments.get("K");
    NdArray v = arguments.get("V");
    NdArray o = arguments.get("O");
    int width = example.width();
    for (int row : new int[] {0, 77, 128, 255}) {
      int first = row / 128 * 128;
      double[] weights = new double[128];
      double sum = 0;
      for (int t = 0; t < 128; t++) {
        double score = 0;
        for (int c = 0; c < width; c++) {
          score += q.element(row * width + c) * k.element((first + t) * width + c);
        }
        weights[t] = Math.exp(score / Math.sqrt(width));
        sum += weights[t];
      }
      for (int c = 0; c < width; c++) {
        double expected = 0;
        for (int t = 0; t < 128; t++) {
          expected += weights[t] / sum * v.element((first + t) * width + c);
        }
        assertThat(o.element(row * width + c)).isCloseTo(expected, within(1e-3));
      }
    }
  }

  /** K and V go through one ring, whose tiles are under way while scores are summed up. */
  @Test
  void keysAndValuesShareARing() {
    Kernel kernel = new FusedAttention("f16", 2, 192, 64, 64, 1).kernel(PassListener.NONE);
    assertThat(kernel.name()).isEqualTo("attention_f16_2x192x64");
    String text = IrPrinter.text(kernel);
    assertThat(text).contains("alloc Ks: f16[4, 64, 64] shared").doesNotContain("alloc Vs");
    assertThat(text).contains("shfl.xor.f32");
  }

  /** Registers in which nothing spills, at a size that is worth timing; of those with most. */
  @Test
  void nothingSpills() {
    Optional<Nvcc> nvcc = CudaCompilers.nvcc();
    assumeTrue(nvcc.isPresent(), "nvcc is not installed: nothing is compiled");
    for (HandWritten example : HandWritten.LARGE) {
      if (!(example instanceof GatedProjections || example instanceof FusedAttention)) {
        continue;
      }
      Kernel kernel = example.kernel(PassListener.NONE);
      String cuda = CudaPrinter.print(kernel, GpuTarget.SM_90A);
      Cubin cubin = nvcc.get().compile(new CompileRequest(cuda, GpuTarget.SM_90A.name()));
      assertThat(cubin.usage(kernel.name()).orElseThrow().isClean()).as(cubin.log()).isTrue();
      assertThat(cubin.warnings()).isEmpty();
    }
  }
}
