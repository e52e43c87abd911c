package dev.warpwright.measure.baseline;

import dev.warpwright.base.DeviceError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.measure.cublas.CublasLt;
import dev.warpwright.measure.reference.BenchMemory;
import dev.warpwright.measure.timing.TimedWork;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** cuBLASLt on the same inputs: all algorithms that it suggests for one product, by their speed. */
final class CublasLtBaseline implements AutoCloseable {
  private static final int MOST_ALGORITHMS = 32;

  private final CublasLt library;
  private final CublasLt.Matmul product;
  private final BoundWorkload workload;
  private final BenchMemory memory;
  private final List<CudaBuffer> results = new ArrayList<>();
  private final List<SuggestionRanking.Ranked> ranked;

  private CublasLtBaseline(
      CublasLt library,
      CublasLt.Matmul product,
      BoundWorkload workload,
      BenchMemory memory,
      CudaContext context,
      CudaStream stream) {
    this.library = library;
    this.product = product;
    this.workload = workload;
    this.memory = memory;
    for (int set = 0; set < memory.count(); set++) {
      results.add(memory.allocate(BoundWorkload.bytes(workload.result())));
    }
    List<TimedWork> suggestions = new ArrayList<>();
    for (int i = 0; i < product.algorithms(); i++) {
      int algorithm = i;
      suggestions.add(new TimedWork("suggestion " + i, set -> enqueue(algorithm, set)));
    }
    this.ranked = new SuggestionRanking(context, stream, memory.count()).rank(suggestions);
  }

  /**
   * Prepares; empty where it is not installed, or the workload is more than one product or chooses
   * them.
   */
  static Optional<CublasLtBaseline> open(
      BoundWorkload workload,
      BenchMemory memory,
      CudaBuffer workspace,
      CudaContext context,
      CudaStream stream) {
    if (workload.outputs().size() != 1 || CublasBaseline.isGrouped(workload)) {
      return Optional.empty();
    }
    return CublasLt.open(stream)
        .flatMap(
            library -> {
              CublasLt.Matmul product = product(library, workload, workspace);
              if (product == null) {
                library.close();
                return Optional.empty();
              }
              return Optional.of(
                  new CublasLtBaseline(library, product, workload, memory, context, stream));
            });
  }

  /** Null where the library has no algorithm for the types or the alignment. */
  private static CublasLt.@Nullable Matmul product(
      CublasLt library, BoundWorkload workload, CudaBuffer workspace) {
    try {
      CublasLt.Matmul product =
          library.matmul(CublasBaseline.gemm(workload, 0), workspace, MOST_ALGORITHMS);
      if (product.algorithms() > 0) {
        return product;
      }
      product.close();
    } catch (DeviceError refused) {
      // What it does not take has no algorithms.
    }
    return null;
  }

  /** All suggestions, fastest first, without those that are refused. */
  List<SuggestionRanking.Ranked> ranked() {
    return ranked;
  }

  /** What the suggestion in this place of {@link #ranked} is called. */
  String name(int place) {
    return (place == 0 ? "cuBLASLt (best of " : "cuBLASLt (no. " + (place + 1) + " of ")
        + product.algorithms()
        + " suggestions)"
        + CublasBaseline.plain(workload);
  }

  /** Gives one of the suggestions to the stream, without waiting. */
  void enqueue(int algorithm, int set) {
    List<Buffer> inputs = workload.inputs();
    product.enqueue(
        algorithm,
        memory.get(set, inputs.get(0)),
        memory.get(set, inputs.get(1)),
        results.get(set));
  }

  CudaBuffer result(int set) {
    return results.get(set);
  }

  @Override
  public void close() {
    product.close();
    library.close();
  }
}
