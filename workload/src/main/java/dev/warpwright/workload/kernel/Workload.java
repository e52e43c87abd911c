package dev.warpwright.workload.kernel;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.accuracy.SumAccuracy;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.MatrixRows;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a kernel computes, as its attribute {@code workload} says, over its buffers of fixed names.
 * Sums are at least as precise as f32, unless the arithmetic says f16; a result is rounded once, to
 * the type of its buffer.
 */
public sealed interface Workload {
  /** How many deviations of its elements a whole result may be off, in the root of the mean. */
  double WHOLE = 1.25;

  /**
   * {@code "gemm_nt"}: C[M, N] = A[M, K] · B[N, K]ᵀ; {@code "gemm_nn"}: C[M, N] = A[M, K] · B[K,
   * N]; {@code "gemm_tn"} and {@code "gemm_tt"} with A[K, M]. The attribute {@code arithmetic} says
   * what is computed in, if not what is usual for the operands; the attribute {@code epilogue} what
   * follows the product, whose operands are {@code extras}. Results and operands of rank 3 hold the
   * matrices of several products, one behind the other; a buffer {@code group} says which B each of
   * them takes. Sums of no products, K = 0, have no operands among the kernel's buffers: the
   * attribute {@code operands} says their type.
   */
  record Gemm(
      Buffer a,
      Buffer b,
      Buffer c,
      GemmWorkload.Layout layout,
      Precision precision,
      Epilogue epilogue,
      List<Buffer> extras,
      @Nullable Buffer group)
      implements Workload {
    public Gemm {
      extras = List.copyOf(extras);
    }

    /** Without an epilogue. */
    public Gemm(Buffer a, Buffer b, Buffer c, GemmWorkload.Layout layout, Precision precision) {
      this(a, b, c, layout, precision, Epilogue.NONE, List.of(), null);
    }

    /** Whether there is nothing but one product of dense matrices. */
    public boolean isPlain() {
      return epilogue.equals(Epilogue.NONE)
          && !batch().isMany()
          && Stream.of(a, b, c).allMatch(matrix -> matrix.layout() == null);
    }

    public long m() {
      return c.extent(c.rank() - 2);
    }

    public long n() {
      return c.extent(c.rank() - 1);
    }

    public long k() {
      return a.extent(a.rank() - (layout.transposedA() ? 2 : 1));
    }

    /** How many products there are; operands of rank 2 are the same in all of them. */
    public Batch batch() {
      return group != null
          ? Batch.grouped(c.extent(0), b.extent(0))
          : c.rank() == 2 ? Batch.NONE : new Batch(c.extent(0), a.rank() == 2, b.rank() == 2);
    }

    /**
     * Which B each product takes while it is measured: those of one B follow each other, as in a
     * mixture of experts, the last B first, so that a kernel that does not look is wrong.
     */
    public List<Integer> groups() {
      Batch batch = batch();
      return LongStream.range(0, batch.isGrouped() ? batch.count() : 0)
          .mapToObj(i -> (int) ((batch.count() - 1 - i) * batch.groups() / batch.count()))
          .toList();
    }
  }

  /**
   * {@code "ffn_gelu"}: H[M, N1] = gelu(X[M, K1] · W1[N1, K1]ᵀ) with the gelu of erf, then Y[M, N2]
   * = H · W2[N2, N1]ᵀ.
   */
  record FfnGelu(Buffer x, Buffer w1, Buffer h, Buffer w2, Buffer y) implements Workload {
    public long m() {
      return y.extent(0);
    }

    public long hidden() {
      return h.extent(1);
    }

    public long k() {
      return x.extent(1);
    }

    public long n() {
      return y.extent(1);
    }
  }

  /**
   * The workload of a kernel whose buffers have constant shapes.
   *
   * @throws UserError if the attribute is missing or unknown, or a buffer is missing or does not
   *     fit
   */
  static Workload of(Kernel kernel) {
    return WorkloadAttributes.read(kernel);
  }

  /** The attribute's value. */
  default String kind() {
    return switch (this) {
      case Gemm g -> "gemm_" + g.layout().name().toLowerCase(Locale.ROOT);
      case FfnGelu _ -> "ffn_gelu";
    };
  }

  /** Kind, shape and type in one line: {@code gemm_nt M=4096 N=4096 K=4096 bf16}. */
  default String text() {
    return switch (this) {
      case Gemm g ->
          String.format(
              Locale.ROOT,
              "%s%s M=%d N=%d K=%d %s%s%s%s%s",
              kind(),
              g.batch().isMany() ? " " + g.batch().text() : "",
              g.m(),
              g.n(),
              g.k(),
              g.a().dtype(),
              g.precision().isUsual() ? "" : " in " + g.precision().arithmetic(),
              g.c().dtype() == g.a().dtype() ? "" : " to " + g.c().dtype(),
              apart("a", g.a()) + apart("b", g.b()) + apart("c", g.c()),
              g.epilogue().equals(Epilogue.NONE) ? "" : " " + g.epilogue().text());
      case FfnGelu f ->
          String.format(
              Locale.ROOT,
              "ffn_gelu M=%d K1=%d N1=%d N2=%d %s",
              f.m(),
              f.k(),
              f.hidden(),
              f.n(),
              f.x().dtype());
    };
  }

  /** What the caller fills, in the order of the formula. */
  default List<Buffer> inputs() {
    return switch (this) {
      case Gemm g when g.k() == 0 -> g.extras();
      case Gemm g -> Stream.concat(Stream.of(g.a(), g.b()), g.extras().stream()).toList();
      case FfnGelu f -> List.of(f.x(), f.w1(), f.w2());
    };
  }

  /** Whether there is anything to multiply: sums may have no products. */
  default boolean hasProducts() {
    return !(this instanceof Gemm g) || g.k() > 0;
  }

  /** What the kernel writes, the result last. */
  default List<Buffer> outputs() {
    return switch (this) {
      case Gemm g -> List.of(g.c());
      case FfnGelu f -> List.of(f.h(), f.y());
    };
  }

  default Buffer result() {
    return outputs().getLast();
  }

  /** Type of the operands of products. */
  default DType operands() {
    return switch (this) {
      case Gemm g -> g.a().dtype();
      case FfnGelu f -> f.x().dtype();
    };
  }

  /**
   * Whether the second operands of products are stored with a row for each column of the result.
   */
  default boolean transposedWeights() {
    return switch (this) {
      case Gemm g -> g.layout().transposedB();
      case FfnGelu _ -> true;
    };
  }

  /** Whether the first operand is stored with a row for each step of the sums. */
  default boolean transposedInput() {
    return switch (this) {
      case Gemm g -> g.layout().transposedA();
      case FfnGelu _ -> false;
    };
  }

  /** What products are computed in. */
  default Precision precision() {
    return switch (this) {
      case Gemm g -> g.precision();
      case FfnGelu f -> Precision.of(f.x().dtype());
    };
  }

  /** Operations of the products, a multiply-add counting as two. */
  default double flops() {
    return switch (this) {
      case Gemm g -> 2.0 * g.m() * g.n() * g.k() * g.batch().count();
      case FfnGelu f -> 2.0 * f.m() * f.hidden() * (f.k() + f.n());
    };
  }

  /** Bytes of the elements of inputs and result, each once: no kernel moves less. */
  default long leastBytes() {
    long bytes = 0;
    for (Buffer buffer : Stream.concat(inputs().stream(), Stream.of(result())).toList()) {
      bytes += rows(buffer) * buffer.extent(buffer.rank() - 1) * buffer.dtype().bytes();
    }
    return bytes;
  }

  /** Bytes of a buffer's memory, behind its last row as much as between two rows. */
  static long bytes(Buffer buffer) {
    return Math.multiplyExact(elements(buffer), buffer.dtype().bytes());
  }

  /** Elements of a buffer's memory, with those between rows and matrices. */
  static long elements(Buffer buffer) {
    if (!MatrixRows.are(buffer)) {
      return buffer.storageElements();
    }
    long matrix = buffer.extent(buffer.rank() - 2) * MatrixRows.pitch(buffer);
    return buffer.rank() == 2
        ? matrix
        : Math.addExact(
            Math.multiplyExact(buffer.extent(0) - 1, MatrixRows.distance(buffer)), matrix);
  }

  /** Rows of a matrix, or of all matrices of a buffer. */
  static long rows(Buffer buffer) {
    long rows = 1;
    for (int d = 0; d < buffer.rank() - 1; d++) {
      rows = Math.multiplyExact(rows, buffer.extent(d));
    }
    return rows;
  }

  /** What is told of rows or matrices that do not follow each other. */
  private static String apart(String name, Buffer matrix) {
    if (matrix.layout() == null) {
      return "";
    }
    long pitch = MatrixRows.pitch(matrix);
    int rank = matrix.rank();
    boolean dense = rank == 2 || MatrixRows.distance(matrix) == matrix.extent(rank - 2) * pitch;
    return (pitch == matrix.extent(rank - 1)
            ? ""
            : String.format(Locale.ROOT, " ld%s=%d", name, pitch))
        + (dense
            ? ""
            : String.format(Locale.ROOT, " stride%s=%d", name, MatrixRows.distance(matrix)));
  }

  /**
   * Standard deviation of an input's random elements: 1, of bytes so much that most values occur,
   * and less for weights behind which there is an activation, so that it sees values of all sizes.
   */
  default double deviation(Buffer input) {
    return switch (this) {
      case Gemm g -> g.precision().sums() == DType.I32 ? 40 : 1;
      case FfnGelu f ->
          input == f.w1() ? 1 / Math.sqrt(f.k()) : input == f.w2() ? 1 / Math.sqrt(f.hidden()) : 1;
    };
  }

  /** What may be added to the elements of a product, counted in the workload's order. */
  default ProductDeviation deviation(int product) {
    return switch (this) {
      case Gemm g -> ProductDeviation.of(precision().accuracy(), g.k(), g.epilogue());
      case FfnGelu f when product == 0 ->
          ProductDeviation.of(
              precision().accuracy(), f.k(), new Epilogue(1, 0, false, Activation.GELU));
      // A kernel's first product may be rounded to a neighbour of the reference's.
      case FfnGelu f ->
          ProductDeviation.of(
              precision().accuracy().ofRounded(ErrorBound.of(f.h().dtype()).unit()),
              f.hidden(),
              Epilogue.NONE);
    };
  }

  /**
   * The greatest relative error that counts as right: the contract's for the coarser of the type of
   * the result and what operands are rounded to (they are made in their own type: of f32 only for
   * tf32), or, of accumulators that are not plain f32 or f64, what sums of so many products are off
   * by where that is more.
   */
  default double tolerance() {
    double tolerance = precision() == Precision.TF32 ? Precision.TF32.tolerance() : 0;
    for (Buffer buffer : outputs()) {
      tolerance = Math.max(tolerance, tolerance(buffer.dtype()));
    }
    boolean plain =
        precision().accuracy().equals(SumAccuracy.OF_F32)
            || precision().accuracy().equals(SumAccuracy.OF_F64);
    for (int product = 0; product < outputs().size() && !plain; product++) {
      tolerance = Math.max(tolerance, WHOLE * deviation(product).relative());
    }
    return tolerance;
  }

  private static double tolerance(DType dtype) {
    return dtype == DType.I32 ? 0 : Precision.of(dtype).tolerance();
  }
}
