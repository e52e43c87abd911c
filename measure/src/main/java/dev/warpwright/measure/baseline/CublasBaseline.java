package dev.warpwright.measure.baseline;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.cublas.Cublas;
import dev.warpwright.measure.reference.BenchMemory;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.target.MatrixRows;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * cuBLAS on the same inputs, with results of its own: one product, or two without an activation
 * between them, or one for each group of grouped products.
 */
public final class CublasBaseline {
  private final BoundWorkload workload;
  private final BenchMemory memory;
  private final Cublas cublas;
  private final List<List<CudaBuffer>> results = new ArrayList<>();

  public CublasBaseline(BoundWorkload workload, BenchMemory memory, Cublas cublas) {
    this.workload = workload;
    this.memory = memory;
    this.cublas = cublas;
    for (int set = 0; set < memory.count(); set++) {
      List<CudaBuffer> own = new ArrayList<>();
      for (Buffer output : workload.outputs()) {
        own.add(memory.allocate(BoundWorkload.bytes(output)));
      }
      results.add(own);
    }
  }

  /** {@code cuBLAS 13.0.0}, and what it does. */
  public String name() {
    int version = cublas.version();
    String text =
        String.format(
            Locale.ROOT, "cuBLAS %d.%d.%d", version / 10_000, version / 100 % 100, version % 100);
    if (isGrouped(workload)) {
      return text + " (a GEMM for each group)" + plain(workload);
    }
    return workload.outputs().size() == 1
        ? text + plain(workload)
        : text + " (two GEMMs, no activation)";
  }

  /** What a baseline leaves out. */
  static String plain(BoundWorkload workload) {
    return isWhole(workload) ? "" : " (the GEMM alone)";
  }

  /** Whether a baseline computes all of a workload, so that its result can be checked. */
  public static boolean isWhole(BoundWorkload workload) {
    return workload instanceof BoundWorkload.Gemm gemm && gemm.epilogue().equals(Epilogue.NONE);
  }

  static boolean isGrouped(BoundWorkload workload) {
    return workload instanceof BoundWorkload.Gemm gemm && gemm.batch().isGrouped();
  }

  public CudaBuffer result(int set) {
    return results.get(set).getLast();
  }

  public void enqueue(int set) {
    CudaBuffer left = memory.get(set, workload.inputs().getFirst());
    if (workload instanceof BoundWorkload.Gemm gemm && gemm.batch().isGrouped()) {
      enqueueGroups(set, gemm, left);
      return;
    }
    for (int i = 0; i < workload.outputs().size(); i++) {
      CudaBuffer result = results.get(set).get(i);
      cublas.gemm(gemm(workload, i), left, memory.get(set, workload.inputs().get(i + 1)), result);
      left = result;
    }
  }

  /**
   * Products of one B follow each other in memory: one of more rows, unless rows are stored apart.
   */
  private void enqueueGroups(int set, BoundWorkload.Gemm gemm, CudaBuffer a) {
    List<Integer> groups = gemm.groups();
    Cublas.Gemm one = gemm(gemm, 0);
    long bytes = gemm.operands().bytes();
    boolean follow =
        !one.transposedA()
            && MatrixRows.distance(gemm.a()) == (long) one.m() * one.leading().a()
            && MatrixRows.distance(gemm.c()) == (long) one.m() * one.leading().d();
    for (int first = 0; first < groups.size(); ) {
      int next = first + 1;
      while (follow && next < groups.size() && groups.get(next).equals(groups.get(first))) {
        next++;
      }
      cublas.gemm(
          one.rows(Math.multiplyExact(one.m(), next - first)),
          a,
          memory.get(set, gemm.b()),
          results.get(set).getFirst(),
          new Cublas.Offsets(
              first * MatrixRows.distance(gemm.a()) * bytes,
              groups.get(first) * MatrixRows.distance(gemm.b()) * bytes,
              first * MatrixRows.distance(gemm.c()) * gemm.c().dtype().bytes()));
      first = next;
    }
  }

  /** A product of the workload; of grouped products, the first. */
  static Cublas.Gemm gemm(BoundWorkload workload, int product) {
    Buffer weights = workload.inputs().get(product + 1);
    Buffer output = workload.outputs().get(product);
    return new Cublas.Gemm(
        Math.toIntExact(output.extent(output.rank() - 2)),
        Math.toIntExact(output.extent(output.rank() - 1)),
        Math.toIntExact(weights.extent(weights.rank() - (workload.transposedWeights() ? 1 : 2))),
        type(weights.dtype()),
        type(output.dtype()),
        compute(workload),
        workload.transposedInput(),
        workload.transposedWeights(),
        batch(workload),
        new Cublas.Leading(
            pitch(
                product == 0 ? workload.inputs().getFirst() : workload.outputs().get(product - 1)),
            pitch(weights),
            pitch(output)));
  }

  private static int pitch(Buffer matrix) {
    return Math.toIntExact(MatrixRows.leadingDimension(matrix));
  }

  private static Cublas.Batch batch(BoundWorkload workload) {
    return workload instanceof BoundWorkload.Gemm gemm
            && gemm.batch().isMany()
            && !gemm.batch().isGrouped()
        ? new Cublas.Batch(
            Math.toIntExact(gemm.batch().count()),
            gemm.batch().sharedA() ? 0 : MatrixRows.distance(gemm.a()),
            gemm.batch().sharedB() ? 0 : MatrixRows.distance(gemm.b()),
            MatrixRows.distance(gemm.c()))
        : Cublas.Batch.ONE;
  }

  /** What we compute in; of f32 operands the library uses no tensor cores for that, either. */
  private static Cublas.Compute compute(BoundWorkload workload) {
    return switch (workload.precision()) {
      case F32, F16, BF16, E4M3, E5M2 -> Cublas.Compute.F32;
      case TF32 -> Cublas.Compute.F32_TF32;
      case F16_ACCUMULATORS -> Cublas.Compute.F16;
      case INT8, UINT8 -> Cublas.Compute.I32;
      case F64 -> Cublas.Compute.F64;
    };
  }

  private static Cublas.Type type(DType dtype) {
    return switch (dtype) {
      case F32 -> Cublas.Type.F32;
      case F64 -> Cublas.Type.F64;
      case F16 -> Cublas.Type.F16;
      case BF16 -> Cublas.Type.BF16;
      case I8 -> Cublas.Type.I8;
      case I32 -> Cublas.Type.I32;
      case F8E4M3 -> Cublas.Type.E4M3;
      case F8E5M2 -> Cublas.Type.E5M2;
      case BOOL, U8, U32, I64, U64, MBARRIER, HANDLE ->
          throw new IllegalArgumentException("no GEMM of " + dtype + " by cuBLAS");
    };
  }
}
