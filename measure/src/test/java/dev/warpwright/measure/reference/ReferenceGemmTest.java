package dev.warpwright.measure.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.math.BigDecimal;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReferenceGemmTest {
  private final long seed = new Random().nextLong();

  private static BoundWorkload.Gemm gemm(DType dtype, long m, long n, long k, boolean transposedB) {
    return new BoundWorkload.Gemm(
        Buffer.of("A", dtype, Scope.GLOBAL, m, k),
        Buffer.of("B", dtype, Scope.GLOBAL, transposedB ? n : k, transposedB ? k : n),
        Buffer.of("C", dtype, Scope.GLOBAL, m, n),
        transposedB ? GemmWorkload.Layout.NT : GemmWorkload.Layout.NN,
        Precision.of(dtype));
  }

  private static BoundWorkload.Ffn ffn(long m, long k, long hidden, long n) {
    return new BoundWorkload.Ffn(
        Buffer.of("X", DType.BF16, Scope.GLOBAL, m, k),
        Buffer.of("W1", DType.BF16, Scope.GLOBAL, hidden, k),
        Buffer.of("H", DType.BF16, Scope.GLOBAL, m, hidden),
        Buffer.of("W2", DType.BF16, Scope.GLOBAL, n, hidden),
        Buffer.of("Y", DType.BF16, Scope.GLOBAL, m, n));
  }

  @ParameterizedTest
  @CsvSource({
    "BF16,5,7,19,true",
    "F16,16,16,16,true",
    "F32,33,17,1,true",
    "BF16,1,40,3,true",
    "F16,9,7,5,false",
    "F8E4M3,9,16,64,true",
    "F8E5M2,3,5,7,true"
  })
  void functionAndKernelComputeProducts(DType dtype, int m, int n, int k, boolean transposedB) {
    ReferenceGemm product = ReferenceGemm.of(gemm(dtype, m, n, k, transposedB)).getFirst();
    NdArray a = NdArray.random(dtype, seed, m, k);
    NdArray w = NdArray.random(dtype, seed + 1, transposedB ? n : k, transposedB ? k : n);
    for (NdArray out : bothWays(product, a, w)) {
      for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
          double sum = 0;
          for (int x = 0; x < k; x++) {
            // One rounding a step: products of such operands are exact in f64.
            sum += a.get(i, x) * (transposedB ? w.get(j, x) : w.get(x, j));
          }
          assertThat(out.get(i, j)).as("[%d, %d], seed %d", i, j, seed).isEqualTo(sum);
        }
      }
    }
  }

  /** Products of f64 that cancel: the kernel is far closer to the truth than plain sums. */
  @Test
  void sumsOfF64AreCompensated() {
    int k = 200;
    ReferenceGemm product = ReferenceGemm.of(gemm(DType.F64, 1, 1, k, true)).getFirst();
    NdArray a = NdArray.of(product.func().buffers().get(0));
    NdArray w = NdArray.of(product.func().buffers().get(1));
    Random random = new Random(seed);
    BigDecimal exact = BigDecimal.ZERO;
    for (int x = 0; x < k; x++) {
      a.set(random.nextGaussian() * Math.scalb(1.0, x % 40), 0, x);
      w.set(x == k - 1 ? 1 : random.nextGaussian(), 0, x);
      if (x == k - 1) {
        a.set(-exact.doubleValue(), 0, x);
      }
      exact = exact.add(new BigDecimal(a.get(0, x)).multiply(new BigDecimal(w.get(0, x))));
    }
    double want = exact.doubleValue();
    assertThat(bothWays(product, a, w).getLast().get(0, 0))
        .as("seed %d", seed)
        .isCloseTo(want, offset(1e-10 * Math.abs(want)));
  }

  @ParameterizedTest
  @CsvSource({"false, false", "true, false", "false, true"})
  void batches(boolean sharedA, boolean sharedB) {
    GemmWorkload workload =
        GemmWorkload.nt(5, 17, 9, DType.BF16).times(new Batch(3, sharedA, sharedB));
    List<Buffer> params = workload.func().params().stream().map(param -> (Buffer) param).toList();
    BoundWorkload.Gemm gemm =
        new BoundWorkload.Gemm(
            params.get(0), params.get(1), params.get(2), workload.layout(), workload.precision());
    assertThat(gemm.batch()).isEqualTo(workload.batch());
    assertThat(gemm.flops()).isEqualTo(workload.flops());
    ReferenceGemm product = ReferenceGemm.of(gemm).getFirst();
    NdArray a = NdArray.of(params.get(0)).fillRandom(seed);
    NdArray w = NdArray.of(params.get(1)).fillRandom(seed + 1);
    for (NdArray out : bothWays(product, a, w)) {
      for (int p = 0; p < 3; p++) {
        for (int i = 0; i < 5; i++) {
          for (int j = 0; j < 17; j++) {
            double sum = 0;
            for (int x = 0; x < 9; x++) {
              sum +=
                  (sharedA ? a.get(i, x) : a.get(p, i, x))
                      * (sharedB ? w.get(j, x) : w.get(p, j, x));
            }
            assertThat(out.get(p, i, j)).as("seed %d", seed).isEqualTo(sum);
          }
        }
      }
    }
  }

  @Test
  void groupedProductsTakeTheWeightsThatATableNames() {
    GemmWorkload workload = GemmWorkload.nt(2, 3, 4, DType.BF16).times(Batch.grouped(5, 3));
    List<Buffer> params = workload.func().params().stream().map(param -> (Buffer) param).toList();
    BoundWorkload.Gemm gemm =
        new BoundWorkload.Gemm(
            params.get(0),
            params.get(1),
            params.get(3),
            workload.layout(),
            workload.precision(),
            Epilogue.NONE,
            List.of(),
            params.get(2));
    assertThat(gemm.batch()).isEqualTo(workload.batch());
    assertThat(gemm.groups()).containsExactly(2, 1, 1, 0, 0);
    NdArray a = NdArray.of(params.get(0)).fillRandom(seed);
    NdArray w = NdArray.of(params.get(1)).fillRandom(seed + 1);
    NdArray group = NdArray.of(params.get(2));
    for (int i = 0; i < 5; i++) {
      group.setIntegerElement(i, gemm.groups().get(i));
    }
    ReferenceGemm product = ReferenceGemm.of(gemm).getFirst();
    NdArray out = bothWays(product, a, w, group).getLast();
    for (int p = 0; p < 5; p++) {
      double sum = 0;
      for (int x = 0; x < 4; x++) {
        sum += a.get(p, 1, x) * w.get(gemm.groups().get(p), 2, x);
      }
      assertThat(out.get(p, 1, 2)).as("seed %d", seed).isEqualTo(sum);
    }
  }

  @Test
  void theHiddenLayerIsRoundedToItsType() {
    BoundWorkload.Ffn ffn = ffn(3, 9, 21, 5);
    List<ReferenceGemm> products = ReferenceGemm.of(ffn);
    assertThat(products).hasSize(2);
    NdArray x = NdArray.random(DType.BF16, seed, 3, 9);
    NdArray w1 = NdArray.random(DType.BF16, seed + 1, 21, 9);
    for (NdArray hidden : bothWays(products.get(0), x, w1)) {
      assertThat(hidden.dtype()).isEqualTo(DType.BF16);
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 21; j++) {
          double sum = 0;
          for (int k = 0; k < 9; k++) {
            sum += x.get(i, k) * w1.get(j, k);
          }
          double gelu = Numerics.round(DType.BF16, Activation.GELU.at(sum));
          assertThat(hidden.get(i, j)).as("[%d, %d], seed %d", i, j, seed).isEqualTo(gelu);
        }
      }
    }
  }

  /** Results of the interpreter on the function and of the simulator on the kernel. */
  private static List<NdArray> bothWays(ReferenceGemm product, NdArray... operands) {
    PrimFunc func = product.func();
    NdArray first = NdArray.of(func.buffers().getLast()).poison();
    Interpreter.run(func, Arguments.inOrder(func.params(), with(operands, first)));
    NdArray second = NdArray.of(func.buffers().getLast()).poison();
    new GridInterpreter(product.kernel(), GridOptions.DEFAULT)
        .run(Arguments.inOrder(product.kernel().params(), with(operands, second)));
    return List.of(first, second);
  }

  private static Object[] with(NdArray[] operands, NdArray out) {
    return Stream.concat(Stream.of(operands), Stream.of(out)).toArray();
  }

  @Test
  void printedKernelsCompileAndStayInRegisters() {
    CudaCompiler compiler = CudaCompilers.nvcc().<CudaCompiler>map(c -> c).orElse(null);
    assumeTrue(compiler != null, "nvcc is not installed");
    for (ReferenceGemm product : ReferenceGemm.of(ffn(1000, 4096, 14336, 4096))) {
      String source = CudaPrinter.print(product.kernel(), GpuTarget.SM_90A);
      Cubin cubin = compiler.compile(new CompileRequest(source, "sm_90a"));
      assertThat(cubin.usage(product.kernel().name()).orElseThrow().localBytes())
          .as(source)
          .isZero();
      String spreads = CudaPrinter.print(product.deviation(), GpuTarget.SM_90A);
      Cubin second = compiler.compile(new CompileRequest(spreads, "sm_90a"));
      assertThat(second.usage(product.deviation().name()).orElseThrow().localBytes())
          .as(spreads)
          .isZero();
      String judge =
          CudaPrinter.print(ErrorSum.of(product.kernel().buffers().getLast()), GpuTarget.SM_90A);
      assertThat(compiler.compile(new CompileRequest(judge, "sm_90a")).usage("error_sum"))
          .isPresent();
    }
  }
}
