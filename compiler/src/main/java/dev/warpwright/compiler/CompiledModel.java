package dev.warpwright.compiler;

import dev.warpwright.base.DeepStack;
import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.base.files.FileBytes;
import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.execute.HostExecutable;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.records.NetworkKey;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Value;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.WorkloadKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A network on a device. Kernels depend on the range of the row count; they are compiled when a row
 * count first needs them.
 *
 * <p>Any thread may call any method. Calls wait for each other, for all use the same buffers:
 * results are right, but two threads are no faster than one. Closing waits for the call that runs;
 * whoever comes later gets an {@link IllegalStateException}.
 */
public final class CompiledModel implements AutoCloseable {
  /** From so many rows on kernels are the same. */
  private static final int LARGEST = 4096;

  /** The same where tiles of rows differ in size. */
  private static final int LARGEST_TILED = 1 << 17;

  private final Graph graph;
  private final Device device;
  private final Precision precision;
  private final ConstantStore constants = new ConstantStore();
  private final Map<Integer, Boolean> byLayer = new HashMap<>();

  /** Held by whoever compiles, runs or closes. */
  private final Object lock = new Object();

  private final Map<Variant, CompiledProgram> programs = new HashMap<>();
  private final Map<Variant, Executable> executables = new HashMap<>();
  private final Map<WorkloadKey, Optional<String>> preferred = new HashMap<>();

  /**
   * What row counts share a program by.
   *
   * @param preferred the alternative that was measured to be fastest for them; empty for none
   * @param byLayer whether each layer is a GEMM, for just so many rows
   */
  private record Variant(int rows, String preferred, boolean byLayer) {}

  private boolean closed;

  CompiledModel(Graph graph, Device device, Precision precision) {
    this.graph = graph;
    this.device = device;
    this.precision = precision;
    device.checkPrecision(precision);
  }

  public Precision precision() {
    return precision;
  }

  public Device device() {
    return device;
  }

  /** Features of the only input. */
  public int inputFeatures() {
    return only(graph.inputs(), "input").features();
  }

  /** Features of the only output. */
  public int outputFeatures() {
    return only(graph.outputs(), "output").features();
  }

  private static Value only(List<Value> values, String what) {
    if (values.size() != 1) {
      throw new UserError(
          "the model has "
              + values.size()
              + " "
              + what
              + "s: "
              + names(values)
              + "; runAll takes and gives them by name");
    }
    return values.getFirst();
  }

  private static String names(Collection<Value> values) {
    return values.stream().map(v -> Names.quote(v.name())).collect(Collectors.joining(", "));
  }

  /**
   * Runs a model of one input and one output.
   *
   * @param x [rows, features] row-major
   * @return [rows, output features]
   * @throws UserError if the length of {@code x} is no multiple of the input's features, or the
   *     model has several inputs or outputs: see {@link #runAll(float[])}
   */
  public float[] run(float[] x) {
    only(graph.outputs(), "output");
    return runAll(x).values().iterator().next();
  }

  /**
   * Runs a model of one input and any number of outputs.
   *
   * @param x [rows, features] row-major
   * @return by the outputs' names in the model's order, [rows, features of the output] each
   * @throws UserError if the length of {@code x} is no multiple of the input's features, or the
   *     model has several inputs: see {@link #runAll(Map)}
   */
  public Map<String, float[]> runAll(float[] x) {
    return runAll(Map.of(only(graph.inputs(), "input").name(), x));
  }

  /**
   * Runs a model of any number of inputs and outputs.
   *
   * @param inputs one array for the name of each input, [rows, features of the input] row-major
   * @return by the outputs' names in the model's order, [rows, features of the output] each
   * @throws UserError if an input is missing, is none of the model's, or has other rows than the
   *     first one
   */
  public Map<String, float[]> runAll(Map<String, float[]> inputs) {
    List<float[]> arrays = new ArrayList<>();
    for (Value input : graph.inputs()) {
      float[] x = inputs.get(input.name());
      if (x == null) {
        throw new UserError("there is no array for the model's input " + Names.quote(input.name()));
      }
      arrays.add(x);
    }
    if (inputs.size() != arrays.size()) {
      throw new UserError(
          "there are arrays for "
              + inputs.size()
              + " inputs, the model has "
              + arrays.size()
              + ": "
              + names(graph.inputs()));
    }
    float[] first = arrays.getFirst();
    int features = graph.inputs().getFirst().features();
    if (first.length % features != 0) {
      throw new UserError(
          "the input has "
              + first.length
              + " elements, which are no whole rows of "
              + features
              + " features");
    }
    int rows = first.length / features;
    List<float[]> results = arrays(graph.outputs(), rows);
    run(rows, arrays, results);
    Map<String, float[]> byName = new LinkedHashMap<>();
    for (int i = 0; i < results.size(); i++) {
      byName.put(graph.outputs().get(i).name(), results.get(i));
    }
    return byName;
  }

  /**
   * Runs.
   *
   * @param rows the row count, 0 or more
   * @param inputs one array for each input of the graph
   * @param outputs one array for each output of the graph, filled
   * @throws IllegalStateException if the model is closed
   */
  public void run(int rows, List<float[]> inputs, List<float[]> outputs) {
    checkLengths(rows, inputs, graph.inputs(), "input");
    checkLengths(rows, outputs, graph.outputs(), "output");
    synchronized (lock) {
      executable(rows).run(rows, inputs, outputs);
    }
  }

  /**
   * Does what the first calls with a row count would do otherwise: compiles the kernels and, on the
   * CPU, has the JVM compile them too, which takes about half a second in a process that has just
   * started.
   *
   * @param rows the row count, at least 1
   */
  public void prepare(int rows) {
    synchronized (lock) {
      if (executable(rows) instanceof HostExecutable host) {
        List<float[]> inputs = arrays(graph.inputs(), rows);
        inputs.forEach(input -> Arrays.fill(input, 0.5f));
        host.prepare(rows, inputs, arrays(graph.outputs(), rows));
      }
    }
  }

  private static List<float[]> arrays(List<Value> values, int rows) {
    return values.stream().map(v -> new float[Math.multiplyExact(rows, v.features())]).toList();
  }

  private static void checkLengths(
      int rows, List<float[]> arrays, List<Value> values, String what) {
    if (arrays.size() != values.size()) {
      throw new UserError(
          "the model has " + values.size() + " " + what + "s, not " + arrays.size());
    }
    for (int i = 0; i < arrays.size(); i++) {
      long wanted = (long) rows * values.get(i).features();
      if (arrays.get(i).length != wanted) {
        throw new UserError(
            what
                + " "
                + i
                + " has "
                + arrays.get(i).length
                + " elements, "
                + rows
                + " rows of "
                + values.get(i).features()
                + " features need "
                + wanted);
      }
    }
  }

  /** The program for a row count. */
  public CompiledProgram program(int rows) {
    synchronized (lock) {
      return programs.computeIfAbsent(
          variant(rows), v -> FileBytes.reading(() -> DeepStack.call(() -> compile(v))));
    }
  }

  private CompiledProgram compile(Variant variant) {
    String preferred = variant.preferred().isEmpty() ? null : variant.preferred();
    if (!variant.byLayer()) {
      return compile(variant, null, preferred);
    }
    try (GemmKernels products = device.products()) {
      return compile(variant, products, preferred);
    }
  }

  private CompiledProgram compile(
      Variant variant, @Nullable GemmKernels products, @Nullable String preferred) {
    return NetworkCompiler.compile(
        graph, device.target(), precision, variant.rows(), products, preferred, device::isFast);
  }

  /**
   * The program for a row count, on the device: for one thread, and while nobody runs the model.
   *
   * @throws IllegalStateException if the model is closed
   */
  public Executable executable(int rows) {
    synchronized (lock) {
      if (closed) {
        throw new IllegalStateException("the compiled model is closed; compile the model again");
      }
      Variant variant = variant(rows);
      Executable known = executables.get(variant);
      if (known == null) {
        CompiledProgram program = program(rows);
        known = FileBytes.reading(() -> DeepStack.call(() -> device.load(program, constants)));
        executables.put(variant, known);
      }
      return known;
    }
  }

  private Variant variant(int rows) {
    if (!(device.target() instanceof GpuTarget target)) {
      return new Variant(bucket(rows), "", false);
    }
    String measured =
        preferred
            .computeIfAbsent(
                NetworkKey.of(graph, precision, rows),
                key -> Optional.ofNullable(device.preferred(key)))
            .orElse("");
    int padded = padded(rows);
    boolean layers =
        measured.isEmpty()
            ? byLayer.computeIfAbsent(
                padded, r -> NetworkCompiler.isByLayer(graph, target, precision, r))
            : NetworkCompiler.isPerLayer(measured);
    return new Variant(layers ? padded : bucket(rows), measured, layers);
  }

  /** Row counts up to the next power of two, and all large ones, share their kernels. */
  private int bucket(int rows) {
    // Without tensor cores the tile grows with the rows until each multiprocessor has a large one.
    boolean tiles = precision == Precision.F32 && device.target() instanceof GpuTarget;
    int largest = tiles ? LARGEST_TILED : LARGEST;
    return rows <= 1 ? 1 : rows >= largest ? largest : Integer.highestOneBit(rows - 1) * 2;
  }

  /**
   * Kernels for one row count compute as many rows: the next power of two up to 128, then the next
   * quarter of one, so that at most a fifth of the work is for nothing.
   */
  private static int padded(int rows) {
    if (rows <= 1) {
      return 1;
    }
    int below = Integer.highestOneBit(rows - 1);
    int step = rows <= 16 ? 16 : below < 128 ? 2 * below : below / 4;
    long padded = (long) Math.ceilDiv(rows, step) * step;
    return padded > Integer.MAX_VALUE ? rows : (int) padded;
  }

  /** Source of the kernels for a row count, for GPU devices. */
  public String cudaSource(int rows) {
    return device.cudaSource(program(rows));
  }

  /** The values that the model takes, in order. */
  public List<Value> inputs() {
    return new ArrayList<>(graph.inputs());
  }

  /** The values that the model computes, in order; their names are all different. */
  public List<Value> outputs() {
    return new ArrayList<>(graph.outputs());
  }

  /** Gives back what the model has on the device; does nothing the second time. */
  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
      executables.values().forEach(Executable::close);
      executables.clear();
    }
  }
}
