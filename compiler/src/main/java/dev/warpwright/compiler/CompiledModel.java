package dev.warpwright.compiler;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.buffer.DeviceStream;
import dev.warpwright.compiler.buffer.TensorBuffer;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.execute.HostExecutable;
import dev.warpwright.compiler.execute.WorkspacePool;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Precision;
import java.lang.foreign.MemorySegment;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import org.jspecify.annotations.Nullable;

/**
 * A network on a device.
 *
 * <pre>{@code
 * try (var device = Device.best();
 *     var model = Warpwright.load(Path.of("model.onnx")).compile(device)) {
 *   float[] y = model.run(x); // [rows, model.outputFeatures()] for x of [rows, model.inputFeatures()]
 * }
 * }</pre>
 *
 * <p><b>Rows.</b> Each call has as many rows as its inputs have, and may have other ones than the
 * call before. Kernels depend on the range of the row count; they are compiled when a row count
 * first needs them, or by {@link #prepare}.
 *
 * <p><b>Threads.</b> Any thread may call any method at any time. Calls work in memory of their own
 * and do not wait for each other, except for kernels that are being compiled, and for one of
 * {@value #MOST_ON_GPU} streams of a GPU. Closing waits for the calls that run; whoever comes later
 * gets an {@link IllegalStateException}.
 *
 * <p><b>Memory.</b> Arrays of the kernels' element type ({@link #inputType}, {@link #outputType})
 * are read and written in place on the CPU, as is memory of the device on a GPU; all else is copied
 * once, and converted if need be. Outputs must not overlap inputs or each other. Nothing of the
 * caller's is kept but the arrays of the last few calls, and they only until others come.
 *
 * <p><b>Errors.</b> A {@link UserError} says in one line which argument is wrong and what is
 * expected; a {@link dev.warpwright.base.DeviceError} what the device said. The outputs hold
 * anything then.
 */
public final class CompiledModel implements AutoCloseable {
  /** Calls of one range of row counts that are under way at once on a GPU; others wait. */
  static final int MOST_ON_GPU = 8;

  /** The same on other devices, where each takes the memory of the network's widest layers. */
  private static final int MOST_ON_HOST = 64;

  private final Device device;
  private final Precision precision;
  private final Graph graph;
  private final ModelArguments inputs;
  private final ModelArguments outputs;
  private final ModelPrograms programs;

  CompiledModel(Graph graph, Device device, Precision precision) {
    this.graph = graph;
    this.device = device;
    this.precision = precision;
    this.inputs = new ModelArguments(graph.inputs(), "input");
    this.outputs = new ModelArguments(graph.outputs(), "output");
    device.checkPrecision(precision);
    int most = device instanceof GpuDevice ? MOST_ON_GPU : MOST_ON_HOST;
    this.programs = new ModelPrograms(graph, device, precision, most);
  }

  /** {@return what the kernels compute in} */
  public Precision precision() {
    return precision;
  }

  /** {@return where it runs} */
  public Device device() {
    return device;
  }

  /**
   * {@return features of the only input}
   *
   * @throws UserError if there are several
   */
  public int inputFeatures() {
    return inputs.onlyFeatures();
  }

  /**
   * {@return features of the only output}
   *
   * @throws UserError if there are several
   */
  public int outputFeatures() {
    return outputs.onlyFeatures();
  }

  /** {@return the values that the model takes, in order: names and features} */
  public List<Value> inputs() {
    return new ArrayList<>(graph.inputs());
  }

  /** {@return the values that the model computes, in order; their names are all different} */
  public List<Value> outputs() {
    return new ArrayList<>(graph.outputs());
  }

  /**
   * {@return the element type in which the kernels for a row count read an input: no conversion,
   * then}
   *
   * @param index of the input or output, from 0
   * @param rows the row count, 1 or more
   * @throws UserError if there is no such input, or no row
   */
  public DType inputType(int index, int rows) {
    inputs.checkIndex(index);
    return program(rows).network().inputs().get(index).dtype();
  }

  /**
   * {@return the element type in which the kernels for a row count write an output}
   *
   * @param index of the input or output, from 0
   * @param rows the row count, 1 or more
   * @throws UserError if there is no such output, or no row
   */
  public DType outputType(int index, int rows) {
    outputs.checkIndex(index);
    return program(rows).network().outputs().get(index).dtype();
  }

  // ---- one input, one output ---------------------------------------------------------------

  /**
   * Runs a model of one input and one output.
   *
   * @param x [rows, features] row-major
   * @return [rows, output features], a new array
   * @throws UserError if {@code x} is null or no whole rows, or the model has several inputs or
   *     outputs: see {@link #runAll(Map)}
   * @throws IllegalStateException if the model is closed
   */
  public float[] run(float[] x) {
    inputs.onlyFeatures();
    int width = outputs.onlyFeatures();
    int rows = rows(x);
    float[] y = new float[Math.multiplyExact(rows, width)];
    run(rows, new TensorBuffer[] {TensorBuffer.of(x)}, new TensorBuffer[] {TensorBuffer.of(y)});
    return y;
  }

  private int rows(float @Nullable [] x) {
    if (x == null) {
      inputs.check(0, 1, null);
    }
    return inputs.rows(0, x == null ? 0 : x.length);
  }

  /**
   * Runs a model of one input and one output on memory of the caller.
   *
   * <pre>{@code
   * float[] y = new float[16 * model.outputFeatures()];
   * model.run(x, y); // allocates nothing that stays
   * }</pre>
   *
   * @param x [rows, features] row-major
   * @param y [rows, output features], filled
   * @throws UserError if one is null, {@code x} is no whole rows, {@code y} has other rows, or the
   *     model has several inputs or outputs
   * @throws IllegalStateException if the model is closed
   */
  public void run(float[] x, float[] y) {
    run(TensorBuffer.of(x), TensorBuffer.of(y));
  }

  /**
   * {@link #run(float[], float[])} of what remains of two buffers, on or off the Java heap.
   *
   * @param x [rows, features] row-major
   * @param y [rows, output features], filled
   */
  public void run(FloatBuffer x, FloatBuffer y) {
    run(TensorBuffer.of(x), TensorBuffer.of(y));
  }

  /**
   * {@link #run(float[], float[])} of two memory segments of f32 numbers.
   *
   * @param x [rows, features] row-major
   * @param y [rows, output features], filled
   */
  public void run(MemorySegment x, MemorySegment y) {
    run(TensorBuffer.of(x, DType.F32), TensorBuffer.of(y, DType.F32));
  }

  /**
   * {@link #run(float[], float[])} of memory of any kind, in any of its element types.
   *
   * @param x [rows, features] row-major
   * @param y [rows, output features], filled
   */
  public void run(TensorBuffer x, TensorBuffer y) {
    inputs.onlyFeatures();
    outputs.onlyFeatures();
    if (x == null) {
      inputs.check(0, 1, null);
    }
    int rows = inputs.rows(0, x.elements());
    outputs.check(0, rows, y);
    run(rows, new TensorBuffer[] {x}, new TensorBuffer[] {y});
  }

  /**
   * Runs a model of one input and one output on the first rows of memory that may be longer, such
   * as a {@link dev.warpwright.compiler.buffer.DeviceBuffer} that serves calls of several sizes.
   *
   * @param rows the row count, 0 or more
   * @param x [rows, features] row-major
   * @param y [rows, output features], filled
   * @throws UserError if one is null or too short, or the model has several inputs or outputs
   * @throws IllegalStateException if the model is closed
   */
  public void run(int rows, TensorBuffer x, TensorBuffer y) {
    run(rows, inputs.only(rows, x), outputs.only(rows, y));
  }

  // ---- any inputs, any outputs -------------------------------------------------------------

  /**
   * Runs a model of one input and any number of outputs.
   *
   * @param x [rows, features] row-major
   * @return by the outputs' names in the model's order, [rows, features of the output] each
   * @throws UserError if {@code x} is null or no whole rows, or the model has several inputs: see
   *     {@link #runAll(Map)}
   * @throws IllegalStateException if the model is closed
   */
  public Map<String, float[]> runAll(float[] x) {
    inputs.onlyFeatures();
    rows(x);
    return runAll(Map.of(inputs.name(0), x));
  }

  /**
   * Runs a model of any number of inputs and outputs.
   *
   * <pre>{@code
   * Map<String, float[]> y = model.runAll(Map.of("query", q, "context", c));
   * float[] score = y.get("score");
   * }</pre>
   *
   * @param byName one array for the name of each input, [rows, features of the input] row-major
   * @return by the outputs' names in the model's order, [rows, features of the output] each
   * @throws UserError if an input is missing, null, none of the model's, no whole rows, or has
   *     other rows than the first one
   * @throws IllegalStateException if the model is closed
   */
  public Map<String, float[]> runAll(Map<String, float[]> byName) {
    Map<String, @Nullable TensorBuffer> in = new LinkedHashMap<>();
    if (byName != null) {
      byName.forEach((name, x) -> in.put(name, x == null ? null : TensorBuffer.of(x)));
    }
    TensorBuffer[] given = inputs.inOrder(byName == null ? null : in);
    int rows = rowsOf(given);
    Map<String, float[]> results = new LinkedHashMap<>();
    TensorBuffer[] out = new TensorBuffer[outputs.count()];
    for (int i = 0; i < out.length; i++) {
      float[] y = new float[Math.multiplyExact(rows, outputs.features(i))];
      results.put(outputs.name(i), y);
      out[i] = TensorBuffer.of(y);
    }
    run(rows, given, out);
    return results;
  }

  private int rowsOf(TensorBuffer[] given) {
    int rows = inputs.rows(0, given[0].elements());
    for (int i = 1; i < given.length; i++) {
      inputs.check(i, rows, given[i]);
    }
    return rows;
  }

  /**
   * Runs a model of any number of inputs and outputs on memory of the caller.
   *
   * <pre>{@code
   * short[] bits = new short[16 * 10];
   * model.run(
   *     Map.of("x", TensorBuffer.of(rows, DType.BF16)),
   *     Map.of("y", TensorBuffer.of(bits, DType.BF16)));
   * }</pre>
   *
   * @param in memory for the name of each input
   * @param out memory for the name of each output, filled
   * @throws UserError if a name is missing or none of the model's, a value is null, or has other
   *     rows than the first input
   * @throws IllegalStateException if the model is closed
   */
  public void run(Map<String, ? extends TensorBuffer> in, Map<String, ? extends TensorBuffer> out) {
    TensorBuffer[] given = inputs.inOrder(in);
    TensorBuffer[] wanted = outputs.inOrder(out);
    int rows = rowsOf(given);
    for (int i = 0; i < wanted.length; i++) {
      outputs.check(i, rows, wanted[i]);
    }
    run(rows, given, wanted);
  }

  /**
   * Runs a model of any number of inputs and outputs on arrays of the caller.
   *
   * @param rows the row count, 0 or more
   * @param in one array for each input of the model, in its order
   * @param out one array for each output, filled
   * @throws UserError if there are too many, too few, or one has other rows
   * @throws IllegalStateException if the model is closed
   */
  public void run(int rows, List<float[]> in, List<float[]> out) {
    run(rows, inputs.checked(rows, in), outputs.checked(rows, out));
  }

  private static void checkCompiled(int rows) {
    if (rows < 1) {
      throw new UserError("rows = " + rows + ": kernels are for 1 row or more");
    }
  }

  /** All calls come here, their arguments checked. */
  private void run(int rows, TensorBuffer[] in, TensorBuffer[] out) {
    outputs.checkWritable(out, in, inputs);
    WorkspacePool pool = programs.pool(rows);
    WorkspacePool.Lease lease = pool.take();
    try {
      lease.workspace().run(rows, in, out);
    } finally {
      pool.give(lease);
    }
  }

  // ---- without waiting ---------------------------------------------------------------------

  /**
   * Gives a call to a stream: it begins when the stream's work so far is done, and on a GPU nobody
   * waits for it here. Another model may take its output on the same stream at once.
   *
   * @param stream of the model's device; where another library captures it into a graph, calls
   *     cannot be part of that
   * @param rows the row count, 0 or more
   * @param x [rows, features], not to be changed until the call is done
   * @param y [rows, output features], filled when the call is done
   * @throws UserError if one is null, too short or, on a GPU, no device buffer, the stream is
   *     another device's, or the model has several inputs or outputs
   * @throws IllegalStateException if the model or the stream is closed
   */
  public void enqueue(DeviceStream stream, int rows, TensorBuffer x, TensorBuffer y) {
    enqueue(stream, rows, inputs.only(rows, x), outputs.only(rows, y));
  }

  /**
   * {@link #enqueue(DeviceStream, int, TensorBuffer, TensorBuffer)} of a model of any number of
   * inputs and outputs.
   *
   * @param stream of the model's device
   * @param rows the row count, 0 or more
   * @param in memory for the name of each input, not to be changed until the call is done
   * @param out memory for the name of each output, filled when the call is done
   * @throws UserError if a name is missing or none of the model's, a value is null, too short or,
   *     on a GPU, no device buffer, or the stream is another device's
   * @throws IllegalStateException if the model or the stream is closed
   */
  public void enqueue(
      DeviceStream stream,
      int rows,
      Map<String, ? extends TensorBuffer> in,
      Map<String, ? extends TensorBuffer> out) {
    enqueue(stream, rows, inputs.inOrder(rows, in), outputs.inOrder(rows, out));
  }

  private void enqueue(DeviceStream stream, int rows, TensorBuffer[] in, TensorBuffer[] out) {
    if (stream == null) {
      throw new UserError("the stream is null; Device.newStream makes one");
    }
    outputs.checkWritable(out, in, inputs);
    WorkspacePool pool = programs.pool(rows);
    WorkspacePool.Lease lease = pool.take(stream);
    try {
      lease.workspace().enqueue(rows, in, out);
    } finally {
      pool.give(lease);
    }
  }

  /**
   * {@link #run(float[])} on a thread of the common pool.
   *
   * @param x [rows, features] row-major, not to be changed until the future is done
   * @return the result, or the error that {@link #run(float[])} would throw
   */
  public CompletableFuture<float[]> runAsync(float[] x) {
    return CompletableFuture.supplyAsync(() -> run(x), ForkJoinPool.commonPool());
  }

  /**
   * {@link #run(Map, Map)} on a thread of the executor. On a GPU calls run on streams of their own,
   * so that one copies while another computes.
   *
   * @param in not to be changed until the future is done
   * @param out not to be read until the future is done
   * @param executor of the thread
   * @return done when the outputs are filled, or with the error that {@link #run(Map, Map)} would
   *     throw
   */
  public CompletableFuture<Void> runAsync(
      Map<String, ? extends TensorBuffer> in,
      Map<String, ? extends TensorBuffer> out,
      Executor executor) {
    return CompletableFuture.runAsync(() -> run(in, out), executor);
  }

  // ---- programs ----------------------------------------------------------------------------

  /**
   * Does what the first calls with a row count would do otherwise: compiles the kernels and, on the
   * CPU, has the JVM compile them too, which takes about half a second in a process that has just
   * started.
   *
   * @param rows the row count, at least 1
   * @throws UserError if there is none, or so many rows are no array
   * @throws IllegalStateException if the model is closed
   */
  public void prepare(int rows) {
    inputs.checkArrays(rows);
    outputs.checkArrays(rows);
    if (executable(rows) instanceof HostExecutable host) {
      List<float[]> in = arrays(graph.inputs(), rows);
      in.forEach(input -> Arrays.fill(input, 0.5f));
      host.prepare(rows, in, arrays(graph.outputs(), rows));
    }
  }

  private static List<float[]> arrays(List<Value> values, int rows) {
    return values.stream().map(v -> new float[rows * v.features()]).toList();
  }

  /**
   * {@return the program for a row count}
   *
   * @param rows the row count, 1 or more
   * @throws UserError if there is no row
   */
  public CompiledProgram program(int rows) {
    checkCompiled(rows);
    return programs.program(rows);
  }

  /**
   * {@return the program for a row count, on the device: to verify and to measure it, on one
   * thread}
   *
   * @param rows the row count, 1 or more
   * @throws UserError if there is no row
   * @throws IllegalStateException if the model is closed
   */
  public Executable executable(int rows) {
    checkCompiled(rows);
    return programs.pool(rows).executable();
  }

  /**
   * {@return source of the kernels for a row count}
   *
   * @param rows the row count, 1 or more
   * @throws UserError if the device runs no CUDA, or there is no row
   */
  public String cudaSource(int rows) {
    return device.cudaSource(program(rows));
  }

  /** Gives back what the model has on the device; does nothing the second time. */
  @Override
  public void close() {
    programs.close();
  }
}
