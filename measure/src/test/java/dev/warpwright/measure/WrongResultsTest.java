package dev.warpwright.measure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.measure.reference.ErrorSum;
import dev.warpwright.measure.reference.HostMatrix;
import dev.warpwright.measure.reference.OutputError;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Of every number type: honest results pass, and a wrong row, column, element or a lost K step does
 * not, on the host and by the kernel that judges on a device.
 */
class WrongResultsTest {
  private static final long SEED = Long.getLong("seed", new Random().nextLong());
  private static final int M = 16;
  private static final int N = 128;

  /** What is multiplied, the type of the result, and K. */
  private record Case(Precision precision, DType result, int k) {
    BoundWorkload.Gemm workload() {
      return new BoundWorkload.Gemm(
          Buffer.of("A", precision.operand(), Scope.GLOBAL, M, k),
          Buffer.of("B", precision.operand(), Scope.GLOBAL, N, k),
          Buffer.of("C", result, Scope.GLOBAL, M, N),
          GemmWorkload.Layout.NT,
          precision);
    }
  }

  static Stream<Case> cases() {
    List<Case> cases = new ArrayList<>();
    for (int k : new int[] {16, 200, 1024}) {
      cases.add(new Case(Precision.F32, DType.F32, k));
      cases.add(new Case(Precision.TF32, DType.F32, k));
      cases.add(new Case(Precision.F16, DType.F16, k));
      cases.add(new Case(Precision.F16_ACCUMULATORS, DType.F16, k));
      cases.add(new Case(Precision.F16, DType.F32, k));
      cases.add(new Case(Precision.BF16, DType.BF16, k));
      cases.add(new Case(Precision.BF16, DType.F32, k));
      cases.add(new Case(Precision.E4M3, DType.BF16, k));
      cases.add(new Case(Precision.E4M3, DType.F32, k));
      cases.add(new Case(Precision.E5M2, DType.F16, k));
      cases.add(new Case(Precision.INT8, DType.I32, k));
      cases.add(new Case(Precision.F64, DType.F64, k));
    }
    return cases.stream();
  }

  /** Operands, the reference with its deviations, and an honest result. */
  private record Product(
      BoundWorkload.Gemm workload,
      double[][] a,
      double[][] b,
      HostMatrix reference,
      HostMatrix deviation,
      double[] sums) {

    static Product of(Case c, long seed) {
      BoundWorkload.Gemm workload = c.workload();
      double[][] a = rows(HostMatrix.random(workload.a(), workload.deviation(workload.a()), seed));
      double[][] b =
          rows(HostMatrix.random(workload.b(), workload.deviation(workload.b()), seed + 1));
      HostMatrix reference = HostMatrix.zeros(DType.F64, M, N);
      HostMatrix deviation = HostMatrix.zeros(DType.F32, M, N);
      double[] sums = new double[M * N];
      IntStream.range(0, M)
          .parallel()
          .forEach(
              i -> {
                for (int j = 0; j < N; j++) {
                  double sum = 0;
                  double rest = 0;
                  double squares = 0;
                  for (int k = 0; k < c.k(); k++) {
                    double p = a[i][k] * b[j][k];
                    double next = sum + p;
                    double z = next - sum;
                    rest += (sum - (next - z)) + (p - z) + Math.fma(a[i][k], b[j][k], -p);
                    sum = next;
                    squares += p * p;
                  }
                  ((double[]) reference.elements())[i * N + j] = sum + rest;
                  ((float[]) deviation.elements())[i * N + j] =
                      (float) workload.deviation(0).of(sum, squares, java.util.Map.of());
                  sums[i * N + j] = EmulatedSums.of(c.precision(), a[i], b[j]);
                }
              });
      return new Product(workload, a, b, reference, deviation, sums);
    }

    private static double[][] rows(HostMatrix matrix) {
      double[][] rows = new double[(int) matrix.rows()][(int) matrix.columns()];
      for (int i = 0; i < rows.length; i++) {
        for (int k = 0; k < rows[i].length; k++) {
          rows[i][k] = matrix.get(i, k);
        }
      }
      return rows;
    }

    /** What a kernel stores of such sums. */
    NdArray stored(double[] values) {
      NdArray result = NdArray.zeros(workload.c().dtype(), M * N);
      for (int i = 0; i < values.length; i++) {
        if (workload.c().dtype() == DType.I32) {
          result.setIntegerElement(i, (long) values[i]);
        } else {
          result.setElement(i, Numerics.round(workload.c().dtype(), values[i]));
        }
      }
      return result;
    }

    OutputError onHost(NdArray result) {
      HostMatrix matrix = HostMatrix.zeros(workload.c().dtype(), M, N);
      matrix.segment().copyFrom(result.segment());
      return OutputError.of(matrix, reference, deviation, 0);
    }

    OutputError onDevice(NdArray result) {
      Kernel kernel = ErrorSum.of(workload.c());
      NdArray y = NdArray.zeros(DType.F64, M * N);
      NdArray s = NdArray.zeros(DType.F32, M * N);
      y.segment().copyFrom(reference.segment());
      s.segment().copyFrom(deviation.segment());
      NdArray sums = NdArray.zeros(DType.F64, ErrorSum.FIGURES * ErrorSum.THREADS);
      new GridInterpreter(kernel, GridOptions.DEFAULT)
          .run(Arguments.inOrder(kernel.params(), result, y, s, sums));
      return ErrorSum.error(sums.toDoubles());
    }

    /**
     * The row whose element of a column differs most from another's: of any two rows they may be as
     * good as equal.
     */
    int farthest(int i, int j) {
      return IntStream.range(0, M)
          .boxed()
          .max(Comparator.comparingDouble(x -> Math.abs(reference.get(x, j) - reference.get(i, j))))
          .orElseThrow();
    }

    boolean right(double[] values) {
      return onHost(stored(values)).within(workload.tolerance());
    }

    /** The sums without some products of the elements that lie in a rectangle. */
    double[] without(int fromK, int toK, int fromI, int toI, int fromJ, int toJ) {
      double[] result = sums.clone();
      for (int i = fromI; i < toI; i++) {
        for (int j = fromJ; j < toJ; j++) {
          for (int k = fromK; k < toK; k++) {
            result[i * N + j] -= a[i][k] * b[j][k];
          }
        }
      }
      return result;
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void honestPassesAndWrongDoesNot(Case c) {
    String what = c + ", seed " + SEED;
    Product p = Product.of(c, SEED);
    NdArray honest = p.stored(p.sums());
    OutputError error = p.onHost(honest);
    assertThat(error.within(p.workload().tolerance())).as("%s: %s", what, error).isTrue();
    Random random = new Random(SEED);
    int i = random.nextInt(M);
    int j = random.nextInt(N);
    int k = random.nextInt(c.k());
    double[] row = p.sums().clone();
    double[] column = p.sums().clone();
    for (int x = 0; x < N; x++) {
      row[i * N + x] = 0;
    }
    for (int x = 0; x < M; x++) {
      column[x * N + j] = p.sums()[x * N + (j + 1) % N];
    }
    double[] element = p.sums().clone();
    element[i * N + j] = p.sums()[p.farthest(i, j) * N + j];
    double[] nan = p.sums().clone();
    nan[i * N + j] = Double.NaN;
    assertThat(p.right(row)).as("a row of zeros, " + what).isFalse();
    assertThat(p.right(column)).as("another's column, " + what).isFalse();
    assertThat(p.right(element)).as("another's element, " + what).isFalse();
    assertThat(c.result() != DType.I32 && p.right(nan)).as("NaN, " + what).isFalse();
    assertThat(p.right(p.without(k, k + 1, 0, M, 0, N))).as("lost k, " + what).isFalse();
    assertThat(p.right(p.without(k, k + 1, 0, M, 64, N))).as("lost k in a tile, " + what).isFalse();
    int step = random.nextInt(c.k() / 16) * 16;
    assertThat(p.right(p.without(step, step + 16, i, i + 1, 0, N)))
        .as("a lost step in a row, " + what)
        .isFalse();
    if (c.k() == 200) {
      judgedOnADevice(p, error, element, p.without(k, k + 1, 0, M, 64, N));
    }
  }

  /** The kernel says the same as the host. */
  private static void judgedOnADevice(
      Product p, OutputError error, double[] element, double[] lost) {
    OutputError device = p.onDevice(p.stored(p.sums()));
    double tolerance = p.workload().tolerance();
    assertThat(device.within(tolerance)).isTrue();
    assertThat(device.relative()).isCloseTo(error.relative(), offset(error.relative()));
    assertThat(device.deviations().element())
        .isCloseTo(error.deviations().element(), offset(error.deviations().element()));
    assertThat(device.deviations().group())
        .isCloseTo(error.deviations().group(), offset(error.deviations().group()));
    for (double[] wrong : List.of(element, lost)) {
      assertThat(p.onDevice(p.stored(wrong)).within(tolerance)).as("seed %d", SEED).isFalse();
    }
  }

  /** Many products, to know how near to a false alarm honest results come. */
  @ParameterizedTest
  @MethodSource("cases")
  void noFalseAlarms(Case c) {
    int times = c.k() > 1000 ? 1 : 4;
    double element = 0;
    double group = 0;
    double whole = 0;
    for (int t = 0; t < times; t++) {
      Product p = Product.of(c, SEED + 7 + 3L * t);
      OutputError error = p.onHost(p.stored(p.sums()));
      element = Math.max(element, error.deviations().element());
      group = Math.max(group, error.deviations().group());
      double tolerance = p.workload().tolerance();
      whole = Math.max(whole, error.relative() == 0 ? 0 : error.relative() / tolerance);
    }
    System.out.printf(
        Locale.ROOT,
        "%s: at most %.3f (norm), %.3f (element), %.3f (group)%n",
        c,
        whole,
        element,
        group);
    // Rounding the result alone comes up to 1, never above.
    assertThat(element).as("%s, seed %d", c, SEED).isLessThanOrEqualTo(1);
    assertThat(group).as("%s, seed %d", c, SEED).isLessThan(0.75);
    assertThat(whole).as("%s, seed %d", c, SEED).isLessThan(0.95);
  }

  private static org.assertj.core.data.Offset<Double> offset(double of) {
    return org.assertj.core.api.Assertions.within(1e-6 * of + 1e-12);
  }
}
