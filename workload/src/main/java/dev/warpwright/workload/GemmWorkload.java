package dev.warpwright.workload;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.type.DType;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A product of matrices, {@code C[M, N] = f(A · B)}.
 *
 * @param m rows of the result, at least 1
 * @param n columns of the product, at least 1; those of the result, but for gated linear units
 * @param k length of the sums; where it is 0, A and B have no elements and are no parameters
 * @param precision type of A and B, and what products and sums are computed in
 * @param result type of C
 * @param layout how A and B lie in memory
 * @param epilogue the function f
 * @param batch how many such products there are
 * @param leading how far apart rows are
 */
public record GemmWorkload(
    long m,
    long n,
    long k,
    Precision precision,
    DType result,
    Layout layout,
    Epilogue epilogue,
    Batch batch,
    Leading leading)
    implements Workload {
  /** The kind of its keys. */
  public static final String KIND = "gemm";

  /** The table of grouped products, {@code i32[count]}: which B each product takes. */
  public static final String GROUP = "group";

  /** The attribute that tells the type of operands that are no parameters: where K is 0. */
  public static final String OPERANDS = "operands";

  /**
   * Elements from one row of a matrix in memory to the next; 0 where rows follow each other.
   *
   * @param a of A as it is stored
   * @param b of B as it is stored
   * @param c of C and of the matrices that the epilogue reads
   */
  public record Leading(long a, long b, long c) {
    /** All matrices dense. */
    public static final Leading DENSE = new Leading(0, 0, 0);
  }

  /** First letter A, second B: N as written in the formula, T transposed. */
  public enum Layout {
    /** A[M, K], B[N, K]: both contiguous along K. */
    NT,
    /** A[M, K], B[K, N]. */
    NN,
    /** A[K, M], B[K, N]. */
    TN,
    /** A[K, M], B[N, K]. */
    TT;

    /** {@return whether A is stored [K, M]} */
    public boolean transposedA() {
      return this == TN || this == TT;
    }

    /** {@return whether B is stored [N, K]} */
    public boolean transposedB() {
      return this == NT || this == TT;
    }
  }

  /** Checks the shape, and that layout, leading dimensions, batch and epilogue go together. */
  public GemmWorkload {
    if (m < 1 || n < 1 || k < 0) {
      throw new IllegalArgumentException(
          String.format(Locale.ROOT, "a GEMM of %d x %d x %d", m, n, k));
    }
    if (epilogue.isNormed()
        && (k == 0 || layout.transposedA() || batch.isMany() || precision.operand().bytes() != 2)) {
      throw new IllegalArgumentException(
          "rows of A are normed where they are K-major, of 16 bits, of one GEMM");
    }
    long columnsOfC = epilogue.columns(n);
    leading =
        new Leading(
            leading("lda", leading.a(), layout.transposedA() ? m : k),
            leading("ldb", leading.b(), layout.transposedB() ? k : n),
            leading("ldc", leading.c(), columnsOfC));
    long rowsOfA = layout.transposedA() ? k : m;
    long rowsOfB = layout.transposedB() ? n : k;
    long rowOfA = layout.transposedA() ? m : k;
    long rowOfB = layout.transposedB() ? k : n;
    long lda = Math.max(leading.a(), rowOfA);
    long ldb = Math.max(leading.b(), rowOfB);
    long ldc = Math.max(leading.c(), columnsOfC);
    Batch.Strides strides = batch.strides();
    batch =
        batch.with(
            new Batch.Strides(
                batch.sharedA()
                    ? Batch.none("stridea", strides.a())
                    : Batch.apart("stridea", strides.a(), batch.count(), rowsOfA, rowOfA, lda),
                batch.sharedB()
                    ? Batch.none("strideb", strides.b())
                    : Batch.apart("strideb", strides.b(), batch.countOfB(), rowsOfB, rowOfB, ldb),
                Batch.apart("stridec", strides.c(), batch.count(), m, columnsOfC, ldc)));
  }

  /** Zero for rows that follow each other. */
  private static long leading(String name, long given, long row) {
    if (given != 0 && given < row) {
      throw new IllegalArgumentException(
          String.format(Locale.ROOT, "%s=%d: rows have %d elements", name, given, row));
    }
    return given == row ? 0 : given;
  }

  /** {@return elements from one row of A in memory to the next} */
  public long lda() {
    return leading.a() > 0 ? leading.a() : layout.transposedA() ? m : k;
  }

  /** {@return elements from one row of B in memory to the next} */
  public long ldb() {
    return leading.b() > 0 ? leading.b() : layout.transposedB() ? k : n;
  }

  /** {@return elements from one row of C in memory to the next} */
  public long ldc() {
    return leading.c() > 0 ? leading.c() : resultColumns();
  }

  /** {@return columns of C: half of the product's of a gated linear unit, else all} */
  public long resultColumns() {
    return epilogue.columns(n);
  }

  /**
   * {@return the same with rows further apart}
   *
   * @param other leading dimensions, in elements; 0 for dense ones
   */
  public GemmWorkload with(Leading other) {
    return new GemmWorkload(m, n, k, precision, result, layout, epilogue, batch, other);
  }

  /**
   * One product of dense matrices.
   *
   * @param m rows of C
   * @param n columns of the product
   * @param k terms of each sum, 0 or more
   * @param precision what is multiplied and added in
   * @param result type of C
   * @param layout how A and B are stored
   * @param epilogue what becomes of the sums
   */
  public GemmWorkload(
      long m, long n, long k, Precision precision, DType result, Layout layout, Epilogue epilogue) {
    this(m, n, k, precision, result, layout, epilogue, Batch.NONE, Leading.DENSE);
  }

  /**
   * One product of dense matrices in the precision that is usual for the operands.
   *
   * @param m rows of C
   * @param n columns of the product
   * @param k terms of each sum, 0 or more
   * @param operands type of A and B
   * @param result type of C
   * @param layout how A and B are stored
   * @param epilogue what becomes of the sums
   */
  public GemmWorkload(
      long m, long n, long k, DType operands, DType result, Layout layout, Epilogue epilogue) {
    this(m, n, k, Precision.of(operands), result, layout, epilogue);
  }

  /** {@return type of A and B} */
  public DType operands() {
    return precision.operand();
  }

  /**
   * {@return the same with a row or a column alone stored along K, which changes no place in
   * memory}
   */
  public GemmWorkload withVectorsAlongK() {
    boolean a = layout.transposedA() && (m > 1 || leading.a() > 0);
    boolean b = layout.transposedB() || n == 1 && leading.b() == 0;
    Layout same = a ? b ? Layout.TT : Layout.TN : b ? Layout.NT : Layout.NN;
    return same == layout
        ? this
        : new GemmWorkload(m, n, k, precision, result, same, epilogue, batch, leading);
  }

  /**
   * {@return the same in another precision of the same operands}
   *
   * @param other of the same operands' type
   */
  public GemmWorkload with(Precision other) {
    if (other.operand() != operands()) {
      throw new IllegalArgumentException(other.text() + " has other operands than " + operands());
    }
    return new GemmWorkload(m, n, k, other, result, layout, epilogue, batch, leading);
  }

  /**
   * {@return the same with another epilogue}
   *
   * @param other what becomes of the sums
   */
  public GemmWorkload with(Epilogue other) {
    return new GemmWorkload(m, n, k, precision, result, layout, other, batch, leading);
  }

  /**
   * {@return so many of these products}
   *
   * @param other how many, and what they share
   */
  public GemmWorkload times(Batch other) {
    return new GemmWorkload(m, n, k, precision, result, layout, epilogue, other, leading);
  }

  /**
   * {@return {@code C = A · Bᵀ} without an epilogue, the result in the operands' type; of bytes in
   * i32, of 8-bit floats in bf16}
   *
   * @param m rows of C
   * @param n columns of C
   * @param k terms of each sum, 0 or more
   * @param dtype type of A and B
   */
  public static GemmWorkload nt(long m, long n, long k, DType dtype) {
    return of(m, n, k, dtype, Layout.NT);
  }

  /**
   * {@return the same of matrices that lie as {@code layout} says}
   *
   * @param m rows of C
   * @param n columns of C
   * @param k terms of each sum, 0 or more
   * @param dtype type of A and B
   * @param layout how A and B are stored
   */
  public static GemmWorkload of(long m, long n, long k, DType dtype, Layout layout) {
    return new GemmWorkload(m, n, k, dtype, resultOf(dtype), layout, Epilogue.NONE);
  }

  /**
   * {@return the result's type unless another is asked for}
   *
   * @param operands type of A and B
   */
  public static DType resultOf(DType operands) {
    return switch (operands) {
      case I8, U8 -> DType.I32;
      case F8E4M3, F8E5M2 -> DType.BF16;
      case BOOL, I32, U32, I64, U64, F16, BF16, F32, F64, MBARRIER, HANDLE -> operands;
    };
  }

  @Override
  public String kind() {
    return "gemm_" + layout.name().toLowerCase(Locale.ROOT);
  }

  /**
   * The computation, blocks {@code acc} (the sums) and {@code C}; parameters A, B, the table of
   * grouped products, what the epilogue reads, C.
   */
  @Override
  public PrimFunc func() {
    return func(false);
  }

  /**
   * {@return the computation}
   *
   * @param swapAb whether the sums are computed as {@code acc[N, M]}: the result is the same, but a
   *     tile's columns are then rows of A
   */
  public PrimFunc func(boolean swapAb) {
    return new GemmFunction(this, swapAb).whole();
  }

  /**
   * {@return the sums of equal parts of K, without an epilogue: {@code C[parts, M, N]}}
   *
   * @param parts that divide K
   * @param swapAb whether the sums are computed as {@code acc[N, M]}
   */
  public PrimFunc ofParts(int parts, boolean swapAb) {
    return new GemmFunction(this, swapAb).ofParts(parts);
  }

  /**
   * {@return the product of each part of K, as if they were a batch}
   *
   * @param parts that divide K
   */
  public GemmWorkload part(int parts) {
    // What has been rounded to f16 is added up in f32.
    DType sums = precision == Precision.F16_ACCUMULATORS ? DType.F32 : precision.accumulators();
    return new GemmWorkload(
        m,
        n,
        k / parts,
        precision,
        sums,
        layout,
        Epilogue.NONE,
        new Batch(parts, true, true),
        new Leading(lda(), ldb(), 0));
  }

  /**
   * {@return what becomes of the sums of parts: {@code partial[parts, M, N]} in, C out}
   *
   * @param parts of K
   */
  public PrimFunc ofPartialSums(int parts) {
    return new GemmFunction(this, false).ofPartialSums(parts);
  }

  /** {@return the attributes by which a program says that it computes this, in order} */
  public SortedMap<String, String> description() {
    SortedMap<String, String> attributes = new TreeMap<>();
    attributes.put("workload", kind());
    if (k == 0) {
      attributes.put(OPERANDS, operands().text());
    }
    if (!precision.isUsual()) {
      attributes.put("arithmetic", precision.arithmetic());
    }
    if (!epilogue.equals(Epilogue.NONE)) {
      attributes.put("epilogue", epilogue.text());
    }
    return attributes;
  }

  /**
   * {@return whether the rows of a matrix are further apart than they are long, or products'
   * matrices}
   */
  public boolean isStrided() {
    return !leading.equals(Leading.DENSE) || !batch.strides().equals(Batch.Strides.DENSE);
  }

  @Override
  public double flops() {
    return 2.0 * m * n * k * batch.count();
  }

  /** The key: {@code gemm a=bf16 c=bf16 k=4096 layout=nt m=16 n=14336}. */
  /** {@return what records are found by} */
  public WorkloadKey key() {
    return GemmKeys.of(this);
  }

  /**
   * {@return the product of a key}
   *
   * @param key of the kind {@code gemm}
   * @throws IllegalArgumentException if it is none
   */
  public static GemmWorkload of(WorkloadKey key) {
    return GemmKeys.workload(key);
  }

  @Override
  public List<DType> results() {
    return List.of(result);
  }

  @Override
  public GemmDeviation deviation(int product) {
    return GemmDeviation.of(precision.accuracy(), k, epilogue, result);
  }

  @Override
  public String text() {
    return String.format(
        Locale.ROOT,
        "%s%s M=%d N=%d K=%d %s%s%s%s%s",
        kind(),
        batch.isMany() ? " " + batch.text() : "",
        m,
        n,
        k,
        operands(),
        precision.isUsual() ? "" : " in " + precision.arithmetic(),
        result == operands() ? "" : " to " + result,
        apart("lda", leading.a())
            + apart("stridea", batch.strides().a())
            + apart("ldb", leading.b())
            + apart("strideb", batch.strides().b())
            + apart("ldc", leading.c())
            + apart("stridec", batch.strides().c()),
        epilogue.equals(Epilogue.NONE) ? "" : " " + epilogue.text());
  }

  /** What is told of rows or matrices that do not follow each other. */
  private static String apart(String name, long elements) {
    return elements == 0 ? "" : " " + name + "=" + elements;
  }

  /** {@return whether there is nothing but one product of dense matrices} */
  public boolean isPlain() {
    return epilogue.equals(Epilogue.NONE) && !batch.isMany() && !isStrided();
  }
}
