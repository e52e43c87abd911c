package dev.warpwright.measure.network;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.baseline.SuggestionRanking;
import dev.warpwright.measure.cublas.Cublas;
import dev.warpwright.measure.cublas.CublasLt;
import dev.warpwright.measure.network.LibraryLayers.Layer;
import dev.warpwright.measure.timing.TimedWork;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A network by cuBLASLt: a GEMM for each layer with bias and activation as its epilogue where the
 * library has one, each by the fastest of the library's suggestions; a kernel of one pass over
 * memory for other activations and for gates, whose two projections are one GEMM of both weights.
 */
final class LibraryNetwork implements AutoCloseable {
  private static final long WORKSPACE = 64L << 20;
  private static final int MOST_ALGORITHMS = 32;

  /** Suggestions are ranked on so many sets: wide weights do not stay in the cache anyway. */
  private static final int RANKED_SETS = 4;

  private final CudaContext context;
  private final CudaStream stream;
  private final CublasLt library;
  private final GpuTarget target;
  private final List<CudaBuffer> owned = new ArrayList<>();
  private final List<CublasLt.Matmul> products = new ArrayList<>();
  private final List<CudaModule> modules = new ArrayList<>();
  private final List<Step> steps = new ArrayList<>();
  private int launches;

  /** Part of a launch of the whole. */
  @FunctionalInterface
  private interface Step {
    void enqueue(int set);
  }

  /** A matrix of each set. */
  @FunctionalInterface
  private interface Matrix {
    CudaBuffer of(int set);
  }

  private LibraryNetwork(
      CudaContext context, CudaStream stream, CublasLt library, GpuTarget target) {
    this.context = context;
    this.stream = stream;
    this.library = library;
    this.target = target;
  }

  /**
   * Prepares, which includes that all suggestions are timed.
   *
   * @param memory with one input and one output in each set
   * @return empty where the library is not installed
   * @throws DeviceError if it has no algorithm for a layer
   */
  static Optional<LibraryNetwork> open(
      LibraryLayers layers,
      int rows,
      NetworkMemory memory,
      CudaContext context,
      CudaStream stream,
      GpuTarget target) {
    return CublasLt.open(stream)
        .map(
            library -> {
              LibraryNetwork network = new LibraryNetwork(context, stream, library, target);
              try {
                network.prepare(layers, rows, memory);
                return network;
              } catch (RuntimeException e) {
                network.close();
                throw e;
              }
            });
  }

  private void prepare(LibraryLayers layers, int rows, NetworkMemory memory) {
    CudaBuffer workspace = allocate(WORKSPACE);
    DType type = layers.precision().operand();
    Matrix from = set -> memory.set(set).getFirst();
    for (int i = 0; i < layers.layers().size(); i++) {
      Layer layer = layers.layers().get(i);
      boolean last = i + 1 == layers.layers().size();
      Matrix to = last ? set -> memory.output(set, 0) : one(rows, layer.n(), type);
      CublasLt.@Nullable Function function = layer.isGated() ? null : function(layer.activation());
      Matrix sums = function == null ? one(rows, layer.columns(), type) : to;
      product(
          layer,
          rows,
          layers.precision(),
          function == null ? CublasLt.Function.NONE : function,
          workspace,
          from,
          sums,
          Math.min(memory.count(), RANKED_SETS));
      if (function == null) {
        elementwise(layer, rows, type, sums, to, memory.count());
      }
      from = to;
    }
    stream.synchronize();
  }

  /** The epilogue of an activation; null if the library has none. */
  private static CublasLt.@Nullable Function function(Activation activation) {
    return switch (activation) {
      case NONE -> CublasLt.Function.NONE;
      case RELU -> CublasLt.Function.RELU;
      // The library's is the approximation by tanh, which is what people take for either.
      case GELU, GELU_TANH -> CublasLt.Function.GELU;
      default -> null;
    };
  }

  private void product(
      Layer layer,
      int rows,
      Precision precision,
      CublasLt.Function function,
      CudaBuffer workspace,
      Matrix from,
      Matrix to,
      int sets) {
    CudaBuffer weights = behindEachOther(layer.weights());
    @Nullable CudaBuffer bias = layer.biases().isEmpty() ? null : behindEachOther(layer.biases());
    Cublas.Type type = type(precision);
    CublasLt.Matmul product =
        library.matmul(
            new Cublas.Gemm(
                rows, layer.columns(), layer.k(), type, type, compute(precision), false, true),
            new CublasLt.Ending(function, bias),
            workspace,
            MOST_ALGORITHMS);
    products.add(product);
    List<TimedWork> suggestions = new ArrayList<>();
    for (int i = 0; i < product.algorithms(); i++) {
      int algorithm = i;
      suggestions.add(
          new TimedWork(
              "suggestion " + i,
              set -> product.enqueue(algorithm, from.of(set), weights, to.of(set))));
    }
    List<SuggestionRanking.Ranked> ranked =
        new SuggestionRanking(context, stream, sets).rank(suggestions);
    if (ranked.isEmpty()) {
      throw new DeviceError(
          "cuBLASLt has no algorithm for " + rows + " x " + layer.columns() + " x " + layer.k());
    }
    int best = ranked.getFirst().index();
    steps.add(set -> product.enqueue(best, from.of(set), weights, to.of(set)));
    launches++;
  }

  private void elementwise(Layer layer, int rows, DType type, Matrix from, Matrix to, int sets) {
    Kernel kernel = ActivationKernel.of(layer.activation(), layer.isGated(), rows, layer.n(), type);
    CudaModule module =
        context.load(CudaCompilers.compile(CudaPrinter.print(kernel, target), target).bytes());
    modules.add(module);
    GridLauncher launcher = GridLauncher.of(kernel, module);
    Map<CudaBuffer, CudaLaunch> prepared = new HashMap<>();
    List<CudaLaunch> each = new ArrayList<>();
    for (int set = 0; set < sets; set++) {
      CudaBuffer source = from.of(set);
      CudaBuffer result = to.of(set);
      each.add(
          prepared.computeIfAbsent(
              result,
              r ->
                  launcher.prepare(
                      Map.of(kernel.buffers().getFirst(), source, kernel.buffers().getLast(), r),
                      Map.of())));
    }
    steps.add(set -> each.get(set).run(stream));
    launches++;
  }

  /** One matrix for all sets. */
  private Matrix one(int rows, int columns, DType type) {
    CudaBuffer buffer = allocate((long) rows * columns * type.bytes());
    return set -> buffer;
  }

  private CudaBuffer behindEachOther(List<MemorySegment> parts) {
    CudaBuffer buffer = allocate(parts.stream().mapToLong(MemorySegment::byteSize).sum());
    long at = 0;
    for (MemorySegment part : parts) {
      buffer.copyFrom(part, at, stream);
      at += part.byteSize();
    }
    return buffer;
  }

  private CudaBuffer allocate(long bytes) {
    CudaBuffer buffer = context.allocate(Math.max(16, bytes));
    owned.add(buffer);
    return buffer;
  }

  private static Cublas.Type type(Precision precision) {
    return switch (precision.operand()) {
      case F16 -> Cublas.Type.F16;
      case BF16 -> Cublas.Type.BF16;
      case F32 -> Cublas.Type.F32;
      default -> throw new IllegalArgumentException("no network of " + precision.text());
    };
  }

  private static Cublas.Compute compute(Precision precision) {
    return precision == Precision.TF32 ? Cublas.Compute.F32_TF32 : Cublas.Compute.F32;
  }

  /** What it is called in reports. */
  String name() {
    return "cuBLASLt: " + launches + " launches, " + products.size() + " of them GEMMs";
  }

  /** Gives the work on a set to the stream, without waiting. */
  void enqueue(int set) {
    for (Step step : steps) {
      step.enqueue(set);
    }
  }

  @Override
  public void close() {
    products.forEach(CublasLt.Matmul::close);
    library.close();
    modules.forEach(CudaModule::close);
    owned.forEach(CudaBuffer::close);
    owned.clear();
  }
}
