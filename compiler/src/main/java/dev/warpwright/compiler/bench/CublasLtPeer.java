package dev.warpwright.compiler.bench;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DeviceError;
import dev.warpwright.runtime.cuda.CublasLt;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaEvent;
import dev.warpwright.runtime.cuda.CudaStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** cuBLASLt on the same inputs: the fastest of all algorithms that it suggests for one product. */
final class CublasLtPeer implements AutoCloseable {
  private static final int MOST_ALGORITHMS = 32;
  private static final int LAUNCHES = 12;

  private final CublasLt library;
  private final CublasLt.Product product;
  private final Workload workload;
  private final BenchMemory memory;
  private final List<CudaBuffer> results = new ArrayList<>();
  private final int best;

  private CublasLtPeer(
      CublasLt library,
      CublasLt.Product product,
      Workload workload,
      BenchMemory memory,
      CudaContext context,
      CudaStream stream) {
    this.library = library;
    this.product = product;
    this.workload = workload;
    this.memory = memory;
    for (int set = 0; set < memory.count(); set++) {
      results.add(memory.allocate(Workload.bytes(workload.result())));
    }
    this.best = fastest(context, stream);
  }

  /**
   * Prepares; empty where it is not installed, or the workload is more than one product or chooses
   * them.
   */
  static Optional<CublasLtPeer> open(
      Workload workload,
      BenchMemory memory,
      CudaBuffer workspace,
      CudaContext context,
      CudaStream stream) {
    if (workload.outputs().size() != 1 || CublasPeer.isGrouped(workload)) {
      return Optional.empty();
    }
    return CublasLt.open(stream)
        .flatMap(
            library -> {
              CublasLt.Product product = product(library, workload, workspace);
              if (product == null) {
                library.close();
                return Optional.empty();
              }
              return Optional.of(
                  new CublasLtPeer(library, product, workload, memory, context, stream));
            });
  }

  /** Null where the library has no algorithm for the types or the alignment. */
  private static CublasLt.@Nullable Product product(
      CublasLt library, Workload workload, CudaBuffer workspace) {
    try {
      CublasLt.Product product =
          library.product(CublasPeer.gemm(workload, 0), workspace, MOST_ALGORITHMS);
      if (product.algorithms() > 0) {
        return product;
      }
      product.close();
    } catch (DeviceError refused) {
      // What it does not take has no algorithms.
    }
    return null;
  }

  private int fastest(CudaContext context, CudaStream stream) {
    int fastest = 0;
    double least = Double.POSITIVE_INFINITY;
    try (CudaEvent start = context.newEvent();
        CudaEvent end = context.newEvent()) {
      for (int algorithm = 0; algorithm < product.algorithms(); algorithm++) {
        try {
          enqueue(algorithm, 0);
          start.record(stream);
          for (int i = 0; i < LAUNCHES; i++) {
            enqueue(algorithm, i % memory.count());
          }
          end.record(stream);
          end.synchronize();
          double millis = end.millisSince(start);
          if (millis < least) {
            least = millis;
            fastest = algorithm;
          }
        } catch (DeviceError refused) {
          // A suggestion that is refused is none.
        }
      }
    }
    return fastest;
  }

  String name() {
    return String.format(
        Locale.ROOT,
        "cuBLASLt (best of %d suggestions)%s",
        product.algorithms(),
        CublasPeer.plain(workload));
  }

  void enqueue(int set) {
    enqueue(best, set);
  }

  private void enqueue(int algorithm, int set) {
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
