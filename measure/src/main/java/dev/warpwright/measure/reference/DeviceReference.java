package dev.warpwright.measure.reference;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.MatrixRows;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmDeviation;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Compares results on a GPU with a reference computed there in f64, some elements of which are
 * checked against plain loops on the host.
 */
public final class DeviceReference implements AutoCloseable {
  private static final int CHUNK = 1 << 22;
  private static final int SPOTS = 24;

  private final BoundWorkload workload;
  private final BenchMemory memory;
  private final CudaStream stream;
  private final List<ReferenceGemm> products;
  private final CudaModule module;
  private final List<CudaBuffer> results = new ArrayList<>();
  private final List<CudaBuffer> deviations = new ArrayList<>();

  public DeviceReference(
      BoundWorkload workload, BenchMemory memory, Gpu device, CudaStream stream) {
    this.workload = workload;
    this.memory = memory;
    this.stream = stream;
    this.products = ReferenceGemm.of(workload);
    this.module = device.context().load(compile(products, (GpuTarget) device.target()).bytes());
    for (ReferenceGemm product : products) {
      results.add(
          device.context().allocate(BoundWorkload.bytes(product.kernel().buffers().getLast())));
      deviations.add(
          device.context().allocate(BoundWorkload.bytes(product.deviation().buffers().getLast())));
    }
  }

  /** Compiles the reference of a workload, so that the cache has it. */
  public static void compile(BoundWorkload workload, GpuTarget target) {
    compile(ReferenceGemm.of(workload), target);
  }

  private static Cubin compile(List<ReferenceGemm> products, GpuTarget target) {
    List<Kernel> kernels =
        products.stream().flatMap(p -> Stream.of(p.kernel(), p.deviation())).toList();
    return CudaCompilers.compile(CudaPrinter.print(kernels, target), target);
  }

  /** Computes the reference of a set, and checks some of its elements. */
  public void compute(int set, long seed) {
    List<Buffer> inputs = workload.inputs();
    for (int i = 0; i < products.size(); i++) {
      launch(products.get(i).kernel(), i, inputs, set, results.get(i));
      launch(products.get(i).deviation(), i, inputs, set, deviations.get(i));
    }
    stream.synchronize();
    spotCheck(set, seed);
  }

  private void launch(Kernel kernel, int i, List<Buffer> inputs, int set, CudaBuffer result) {
    List<Buffer> params = kernel.buffers();
    Map<Buffer, CudaBuffer> arguments = new HashMap<>();
    for (int p = 0; p < params.size() - 1; p++) {
      // The result before takes the first one's place; what an epilogue reads follows the
      // operands of the one product, then its table.
      CudaBuffer argument =
          i > 0 && p == 0
              ? results.get(i - 1)
              : memory.get(set, i + p < inputs.size() ? inputs.get(i + p) : table(workload));
      arguments.put(params.get(p), argument);
    }
    arguments.put(params.getLast(), result);
    GridLauncher.of(kernel, module).prepare(arguments, Map.of()).run(stream);
  }

  /** Where the reference computed last is, in f64. */
  public CudaBuffer result() {
    return results.getLast();
  }

  /** Where the {@link GemmDeviation} of its elements is, in f32. */
  public CudaBuffer deviation() {
    return deviations.getLast();
  }

  /** How far the result in some memory is from the reference computed last. */
  public OutputError error(CudaBuffer result) {
    return error(workload.outputs().size() - 1, result);
  }

  /** How far an output, counted in the workload's order, is from the reference computed last. */
  public OutputError error(int output, CudaBuffer result) {
    Buffer shape = workload.outputs().get(output);
    DType precise = products.get(output).kernel().buffers().getLast().dtype();
    long columns = shape.extent(shape.rank() - 1);
    long pitch = MatrixRows.leadingDimension(shape);
    long matrix = shape.extent(shape.rank() - 2);
    long step = Math.max(1, CHUNK / pitch);
    OutputError error = OutputError.NONE;
    for (long m = 0; m < BoundWorkload.rows(shape) / matrix; m++) {
      long start = shape.rank() == 2 ? 0 : m * MatrixRows.distance(shape);
      for (long row = 0; row < matrix; row += step) {
        long rows = Math.min(step, matrix - row);
        long before = (m * matrix + row) * columns;
        error =
            error.plus(
                OutputError.of(
                    download(result, shape.dtype(), start + row * pitch, rows, pitch)
                        .columns(columns),
                    download(results.get(output), precise, before, rows, columns),
                    download(deviations.get(output), DType.F32, before, rows, columns),
                    before));
      }
    }
    return error;
  }

  private HostMatrix download(CudaBuffer from, DType dtype, long first, long rows, long columns) {
    HostMatrix matrix = HostMatrix.zeros(dtype, rows, columns);
    from.copyTo(matrix.segment(), first * dtype.bytes(), stream);
    return matrix;
  }

  private void spotCheck(int set, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int p = 0; p < products.size(); p++) {
      Buffer out = products.get(p).kernel().buffers().getLast();
      Dot dot = workload.hasTerms() ? dot(set, p) : (product, i, j) -> new HostReference.Sums(0, 0);
      boolean hidden = p < products.size() - 1;
      for (int spot = 0; spot < SPOTS; spot++) {
        long columns = out.extent(out.rank() - 1);
        // Rows of all products of a batch, one after the other.
        long at = random.nextLong(out.storageElements() / columns);
        long product = at / out.extent(out.rank() - 2);
        long i = at % out.extent(out.rank() - 2);
        long j = random.nextLong(columns);
        FinishedElement element =
            hidden
                ? hidden(dot.of(product, i, j), workload.deviation(p))
                : FinishedElement.of(
                    workload.deviation(p),
                    j,
                    column -> dot.of(product, i, column),
                    column -> values(set, product, i, j, column));
        double want = element.value();
        check(
            results.get(p),
            products.get(p).kernel(),
            at * columns + j,
            want,
            hidden ? Math.scalb(1, -8) * Math.abs(want) + 1e-12 : 1e-9 * (1 + Math.abs(want)),
            String.format(Locale.ROOT, "element [%d, %d], seed %d", at, j, seed));
        double deviation = element.deviation();
        check(
            deviations.get(p),
            products.get(p).deviation(),
            at * columns + j,
            deviation,
            1e-3 * deviation,
            String.format(Locale.ROOT, "deviation [%d, %d], seed %d", at, j, seed));
      }
    }
  }

  private void check(
      CudaBuffer result, Kernel kernel, long at, double want, double allowed, String what) {
    double got = download(result, kernel.buffers().getLast().dtype(), at, 1, 1).get(0);
    if (!(Math.abs(got - want) <= allowed)) {
      throw new DeviceError(
          String.format(
              Locale.ROOT,
              "%s: the reference kernel %s computes %s, the host %s",
              what,
              kernel.name(),
              got,
              want));
    }
  }

  /** A sum of products on the host. */
  private interface Dot {
    HostReference.Sums of(long product, long i, long j);
  }

  private Dot dot(int set, int p) {
    Buffer input = workload.inputs().getFirst();
    Buffer second = workload.inputs().get(p + 1);
    HostMatrix weights = memory.host(set, second);
    HostMatrix first = p == 0 ? memory.host(set, input) : null;
    return (product, i, j) ->
        HostReference.dot(
            first != null
                ? matrix(first, input, product)
                : download(
                    results.get(p - 1),
                    workload.outputs().get(p - 1).dtype(),
                    i * weights.columns(),
                    1,
                    weights.columns()),
            p == 0 && workload.transposedInput(),
            p == 0 ? i : 0,
            matrix(weights, second, chosen(product)),
            workload.transposedWeights(),
            j,
            depth(p));
  }

  private static Buffer table(BoundWorkload workload) {
    return Objects.requireNonNull(((BoundWorkload.Gemm) workload).group());
  }

  /** Which B a product takes. */
  private long chosen(long product) {
    return workload instanceof BoundWorkload.Gemm gemm && gemm.group() != null
        ? gemm.groups().get(Math.toIntExact(product))
        : product;
  }

  /** Length of a product's sums. */
  private long depth(int product) {
    Buffer weights = workload.inputs().get(product + 1);
    return weights.extent(weights.rank() - (workload.transposedWeights() ? 1 : 2));
  }

  /** The matrix of one product, of an operand that may have one for each. */
  private static HostMatrix matrix(HostMatrix all, Buffer operand, long product) {
    return operand.rank() < 3
        ? all
        : all.at(
            product * MatrixRows.distance(operand),
            operand.extent(1),
            MatrixRows.leadingDimension(operand));
  }

  /** An element of the first of two products. */
  private static FinishedElement hidden(HostReference.Sums sums, GemmDeviation deviation) {
    return new FinishedElement(
        Activation.GELU.at(sums.sum()), deviation.of(sums.sum(), sums.squares(), Map.of()));
  }

  /** What the workload's epilogue reads for an element and a column of the product. */
  private Map<Epilogue.Operand, Double> values(int set, long product, long i, long j, long column) {
    Map<Epilogue.Operand, Double> values = new EnumMap<>(Epilogue.Operand.class);
    if (!(workload instanceof BoundWorkload.Gemm gemm)) {
      return values;
    }
    List<Epilogue.Operand> operands = gemm.epilogue().operands();
    for (int e = 0; e < operands.size(); e++) {
      HostMatrix extra =
          matrix(memory.host(set, gemm.extras().get(e)), gemm.extras().get(e), product);
      values.put(
          operands.get(e),
          switch (operands.get(e)) {
            case ROW_SCALE -> extra.get(0, i);
            case COLUMN_SCALE, BIAS -> extra.get(0, column);
            case ADDEND, GATE, RESIDUAL -> extra.get(i, j);
          });
    }
    return values;
  }

  @Override
  public void close() {
    results.forEach(CudaBuffer::close);
    deviations.forEach(CudaBuffer::close);
    module.close();
  }
}
