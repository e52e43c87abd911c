package dev.warpwright.workload.kernel;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.MatrixRows;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmDeviation;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.Workload;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a kernel computes, as its attribute {@code workload} says, and its buffers of fixed names
 * that stand for the matrices.
 */
public sealed interface BoundWorkload {
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
      GemmWorkload workload,
      Buffer a,
      Buffer b,
      Buffer c,
      List<Buffer> extras,
      @Nullable Buffer group)
      implements BoundWorkload {
    public Gemm {
      extras = List.copyOf(extras);
    }

    /** Of these matrices. */
    public Gemm(
        Buffer a,
        Buffer b,
        Buffer c,
        GemmWorkload.Layout layout,
        Precision precision,
        Epilogue epilogue,
        List<Buffer> extras,
        @Nullable Buffer group) {
      this(workload(a, b, c, layout, precision, epilogue, group), a, b, c, extras, group);
    }

    /** Without an epilogue. */
    public Gemm(Buffer a, Buffer b, Buffer c, GemmWorkload.Layout layout, Precision precision) {
      this(a, b, c, layout, precision, Epilogue.NONE, List.of(), null);
    }

    private static GemmWorkload workload(
        Buffer a,
        Buffer b,
        Buffer c,
        GemmWorkload.Layout layout,
        Precision precision,
        Epilogue epilogue,
        @Nullable Buffer group) {
      // Operands of rank 2 are the same in all products.
      Batch batch =
          group != null
              ? Batch.grouped(c.extent(0), b.extent(0))
              : c.rank() == 2 ? Batch.NONE : new Batch(c.extent(0), a.rank() == 2, b.rank() == 2);
      return new GemmWorkload(
          c.extent(c.rank() - 2),
          c.extent(c.rank() - 1) * (epilogue.glu() ? 2 : 1),
          a.extent(a.rank() - (layout.transposedA() ? 2 : 1)),
          precision,
          c.dtype(),
          layout,
          epilogue,
          batch.with(new Batch.Strides(stride(a), stride(b), stride(c))),
          new GemmWorkload.Leading(
              MatrixRows.leadingDimension(a),
              MatrixRows.leadingDimension(b),
              MatrixRows.leadingDimension(c)));
    }

    private static long stride(Buffer matrices) {
      return matrices.rank() == 2 || matrices.extent(0) == 1 ? 0 : MatrixRows.distance(matrices);
    }

    public boolean isPlain() {
      return workload.isPlain();
    }

    public long m() {
      return workload.m();
    }

    public long n() {
      return workload.n();
    }

    public long k() {
      return workload.k();
    }

    public GemmWorkload.Layout layout() {
      return workload.layout();
    }

    public Epilogue epilogue() {
      return workload.epilogue();
    }

    /** How many products there are. */
    public Batch batch() {
      return workload.batch();
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
  record Ffn(FfnWorkload workload, Buffer x, Buffer w1, Buffer h, Buffer w2, Buffer y)
      implements BoundWorkload {
    /** Of these matrices. */
    public Ffn(Buffer x, Buffer w1, Buffer h, Buffer w2, Buffer y) {
      this(
          new FfnWorkload(y.extent(0), x.extent(1), h.extent(1), y.extent(1), x.dtype(), y.dtype()),
          x,
          w1,
          h,
          w2,
          y);
    }

    public long m() {
      return workload.m();
    }

    public long hidden() {
      return workload.hidden();
    }

    public long k() {
      return workload.k();
    }

    public long n() {
      return workload.n();
    }
  }

  /**
   * The workload of a kernel whose buffers have constant shapes.
   *
   * @throws UserError if the attribute is missing or unknown, or a buffer is missing or does not
   *     fit
   */
  static BoundWorkload of(Kernel kernel) {
    return WorkloadAttributes.read(kernel);
  }

  /** What is computed. */
  Workload workload();

  /** As {@link Workload#kind}. */
  default String kind() {
    return workload().kind();
  }

  /** As {@link Workload#text}. */
  default String text() {
    return workload().text();
  }

  /** What the caller fills, in the order of the formula. */
  default List<Buffer> inputs() {
    return switch (this) {
      case Gemm g when g.k() == 0 -> g.extras();
      case Gemm g -> Stream.concat(Stream.of(g.a(), g.b()), g.extras().stream()).toList();
      case Ffn f -> List.of(f.x(), f.w1(), f.w2());
    };
  }

  /** Whether there is anything to multiply: sums may have no products. */
  default boolean hasTerms() {
    return !(this instanceof Gemm g) || g.k() > 0;
  }

  /** What the kernel writes, the result last. */
  default List<Buffer> outputs() {
    return switch (this) {
      case Gemm g -> List.of(g.c());
      case Ffn f -> List.of(f.h(), f.y());
    };
  }

  default Buffer result() {
    return outputs().getLast();
  }

  /** Type of the operands of products. */
  default DType operands() {
    return precision().operand();
  }

  /**
   * Whether the second operands of products are stored with a row for each column of the result.
   */
  default boolean transposedWeights() {
    return switch (this) {
      case Gemm g -> g.layout().transposedB();
      case Ffn _ -> true;
    };
  }

  /** Whether the first operand is stored with a row for each step of the sums. */
  default boolean transposedInput() {
    return switch (this) {
      case Gemm g -> g.layout().transposedA();
      case Ffn _ -> false;
    };
  }

  /** What products are computed in. */
  default Precision precision() {
    return workload().precision();
  }

  /** As {@link Workload#flops}. */
  default double flops() {
    return workload().flops();
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
    long matrix = buffer.extent(buffer.rank() - 2) * MatrixRows.leadingDimension(buffer);
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

  /**
   * Standard deviation of an input's random elements: 1, of bytes so much that most values occur,
   * and less for weights behind which there is an activation, so that it sees values of all sizes.
   */
  default double deviation(Buffer input) {
    return switch (this) {
      case Gemm g -> g.precision().accumulators() == DType.I32 ? 40 : 1;
      case Ffn f ->
          input == f.w1() ? 1 / Math.sqrt(f.k()) : input == f.w2() ? 1 / Math.sqrt(f.hidden()) : 1;
    };
  }

  /** As {@link Workload#deviation}. */
  default GemmDeviation deviation(int product) {
    return workload().deviation(product);
  }

  /** As {@link Workload#tolerance}. */
  default double tolerance() {
    return workload().tolerance();
  }
}
