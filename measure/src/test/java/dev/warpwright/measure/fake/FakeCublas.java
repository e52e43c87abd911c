package dev.warpwright.measure.fake;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * NVIDIA's matrix libraries at their boundary: products of f32, row-major or transposed as the
 * callers say, each by a number of algorithms of which a test says how fast and how precise they
 * are.
 */
public final class FakeCublas {
  /**
   * How a product is computed.
   *
   * @param us how long it takes
   * @param error what all elements of the result are off by, relatively
   * @param refuses whether it says that it cannot
   */
  public record Algorithm(double us, double error, boolean refuses) {
    public Algorithm(double us, double error) {
      this(us, error, false);
    }
  }

  private static final int NOT_SUPPORTED = 15;
  private static final int RESULT_BYTES = 96;

  private record Layout(long rows, long columns, long leading) {}

  private final Algorithm own;
  private final List<Algorithm> suggestions;
  private final Map<Long, Layout> layouts = new HashMap<>();
  private final Map<Long, int[]> transposed = new HashMap<>();
  private final Map<Long, Integer> endings = new HashMap<>();
  private final Map<Long, Long> biases = new HashMap<>();
  private final List<Integer> enqueued = new ArrayList<>();
  private @Nullable FakeGpu gpu;
  private long handles = 1000;

  /**
   * Libraries.
   *
   * @param own what cuBLAS computes by
   * @param suggestions of cuBLASLt, in its order
   */
  public FakeCublas(Algorithm own, List<Algorithm> suggestions) {
    this.own = own;
    this.suggestions = List.copyOf(suggestions);
  }

  void install(FakeGpu device) {
    gpu = device;
    device.takes("cublas", own.us());
    for (int i = 0; i < suggestions.size(); i++) {
      device.takes("lt" + i, suggestions.get(i).us());
    }
  }

  private FakeGpu gpu() {
    if (gpu == null) {
      throw new IllegalStateException("no device");
    }
    return gpu;
  }

  MemorySegment cublasGetStatusString(int status) {
    return MemorySegment.ofAddress(gpu().text("FAKE_CUBLAS_" + status));
  }

  int cublasCreate_v2(long out) {
    FakeGpu.at(out, 8).set(JAVA_LONG, 0, handles++);
    return 0;
  }

  int cublasDestroy_v2(long handle) {
    return 0;
  }

  int cublasGetVersion_v2(long handle, long out) {
    FakeGpu.at(out, 4).set(JAVA_INT, 0, 130_102);
    return 0;
  }

  int cublasSetStream_v2(long handle, long stream) {
    return 0;
  }

  int cublasSetMathMode(long handle, int mode) {
    return 0;
  }

  int cublasSetWorkspace_v2(long handle, long address, long bytes) {
    return 0;
  }

  int cublasGemmStridedBatchedEx(
      long handle,
      int ta,
      int tb,
      int m,
      int n,
      int k,
      long alpha,
      long a,
      int typeA,
      int lda,
      long strideA,
      long b,
      int typeB,
      int ldb,
      long strideB,
      long beta,
      long c,
      int typeC,
      int ldc,
      long strideC,
      int count,
      int compute,
      int algorithm) {
    return NOT_SUPPORTED;
  }

  int cublasGemmEx(
      long handle,
      int ta,
      int tb,
      int m,
      int n,
      int k,
      long alpha,
      long a,
      int typeA,
      int lda,
      long b,
      int typeB,
      int ldb,
      long beta,
      long c,
      int typeC,
      int ldc,
      int compute,
      int algorithm) {
    if (own.refuses()) {
      return NOT_SUPPORTED;
    }
    gpu()
        .enqueue(
            "cublas",
            List.of("cublas", a, b, c),
            () -> product(ta == 1, tb == 1, m, n, k, a, lda, b, ldb, c, ldc, own.error()));
    return 0;
  }

  /** Column-major: C[m, n] = op(A) · op(B). */
  private static void product(
      boolean ta,
      boolean tb,
      long m,
      long n,
      long k,
      long a,
      long lda,
      long b,
      long ldb,
      long c,
      long ldc,
      double error) {
    for (long j = 0; j < n; j++) {
      for (long i = 0; i < m; i++) {
        double sum = 0;
        for (long p = 0; p < k; p++) {
          sum += f32(a, ta ? p + i * lda : i + p * lda) * f32(b, tb ? j + p * ldb : p + j * ldb);
        }
        FakeGpu.at(c, 4 * (i + j * ldc) + 4)
            .set(
                java.lang.foreign.ValueLayout.JAVA_FLOAT,
                4 * (i + j * ldc),
                (float) (sum * (1 + error)));
      }
    }
  }

  private static double f32(long address, long element) {
    return FakeGpu.at(address, 4 * element + 4)
        .get(java.lang.foreign.ValueLayout.JAVA_FLOAT, 4 * element);
  }

  int cublasLtCreate(MemorySegment out) {
    out.reinterpret(8).set(JAVA_LONG, 0, handles++);
    return 0;
  }

  int cublasLtDestroy(long handle) {
    return 0;
  }

  int cublasLtMatmulDescCreate(MemorySegment out, int compute, int scale) {
    transposed.put(handles, new int[2]);
    out.reinterpret(8).set(JAVA_LONG, 0, handles++);
    return 0;
  }

  int cublasLtMatmulDescDestroy(long handle) {
    return 0;
  }

  int cublasLtMatmulDescSetAttribute(long target, int attribute, MemorySegment value, long bytes) {
    int[] operands = transposed.get(target);
    if (operands != null && (attribute == 3 || attribute == 4)) {
      operands[attribute - 3] = value.reinterpret(4).get(JAVA_INT, 0);
    } else if (attribute == 7) {
      endings.put(target, value.reinterpret(4).get(JAVA_INT, 0));
    } else if (attribute == 8) {
      biases.put(target, value.reinterpret(8).get(JAVA_LONG, 0));
    }
    return 0;
  }

  int cublasLtMatrixLayoutCreate(
      MemorySegment out, int type, long rows, long columns, long leading) {
    layouts.put(handles, new Layout(rows, columns, leading));
    out.reinterpret(8).set(JAVA_LONG, 0, handles++);
    return 0;
  }

  int cublasLtMatrixLayoutDestroy(long handle) {
    return 0;
  }

  int cublasLtMatmulPreferenceCreate(MemorySegment out) {
    out.reinterpret(8).set(JAVA_LONG, 0, handles++);
    return 0;
  }

  int cublasLtMatmulPreferenceDestroy(long handle) {
    return 0;
  }

  int cublasLtMatmulPreferenceSetAttribute(
      long preference, int attribute, MemorySegment value, long bytes) {
    return 0;
  }

  int cublasLtMatmulAlgoGetHeuristic(
      long handle,
      long description,
      long left,
      long right,
      long c,
      long d,
      long preference,
      int most,
      MemorySegment results,
      MemorySegment count) {
    int given = Math.min(most, suggestions.size());
    MemorySegment out = results.reinterpret((long) RESULT_BYTES * most);
    out.fill((byte) 0);
    for (int i = 0; i < given; i++) {
      out.set(JAVA_INT, (long) RESULT_BYTES * i, i);
    }
    count.reinterpret(4).set(JAVA_INT, 0, given);
    return 0;
  }

  int cublasLtMatmul(
      long handle,
      long description,
      long alpha,
      long a,
      long layoutA,
      long b,
      long layoutB,
      long beta,
      long c,
      long layoutC,
      long d,
      long layoutD,
      long algorithm,
      long workspace,
      long workspaceBytes,
      long stream) {
    int index = FakeGpu.at(algorithm, 4).get(JAVA_INT, 0);
    Algorithm how = suggestions.get(index);
    Layout left = layouts.get(layoutA);
    Layout right = layouts.get(layoutB);
    Layout out = layouts.get(layoutD);
    int[] operands = transposed.get(description);
    if (how.refuses() || left == null || right == null || out == null || operands == null) {
      return NOT_SUPPORTED;
    }
    enqueued.add(index);
    long k = operands[0] == 1 ? left.rows() : left.columns();
    gpu()
        .enqueue(
            "lt" + index,
            List.of("lt" + index, a, b, d),
            () -> {
              product(
                  operands[0] == 1,
                  operands[1] == 1,
                  out.rows(),
                  out.columns(),
                  k,
                  a,
                  left.leading(),
                  b,
                  right.leading(),
                  d,
                  out.leading(),
                  how.error());
              end(out, d, endings.getOrDefault(description, 1), biases.get(description));
            });
    return 0;
  }

  /** What follows a product: a bias of each row, as it is column-major, then max(x, 0). */
  private static void end(Layout out, long d, int ending, @Nullable Long bias) {
    if (ending == 1) {
      return;
    }
    if (ending != 2 && ending != 4 && ending != 6) {
      throw new IllegalStateException("epilogue " + ending);
    }
    for (long j = 0; j < out.columns(); j++) {
      for (long i = 0; i < out.rows(); i++) {
        long at = i + j * out.leading();
        double x = f32(d, at);
        if (ending != 2) {
          x += f32(java.util.Objects.requireNonNull(bias), i);
        }
        FakeGpu.at(d, 4 * at + 4)
            .set(
                java.lang.foreign.ValueLayout.JAVA_FLOAT,
                4 * at,
                (float) (ending == 4 ? x : Math.max(x, 0)));
      }
    }
  }

  /** The suggestions that were used, in order. */
  public List<Integer> enqueued() {
    return enqueued;
  }
}
