package dev.warpwright.compiler.execute;

import dev.warpwright.compiler.buffer.TensorBuffer;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.jvm.BoundFunction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The arrays of one run on the JVM, and the kernels bound to them. A caller's arrays of the
 * kernels' element types are the kernels' own; everything else goes through arrays kept here.
 */
final class HostWorkspace implements Workspace {
  /** An array that a kernel has as an argument. */
  private record Use(int step, int index) {}

  /**
   * An input or output.
   *
   * @param place of its array among all; negative if no kernel uses it
   */
  private record Port(int place, DType type, long features) {
    static Port of(HostExecutable executable, Buffer buffer) {
      return new Port(executable.placeOf(buffer), buffer.dtype(), buffer.extent(1));
    }
  }

  private final HostExecutable executable;
  private final Port[] inputs;
  private final Port[] outputs;
  private final Object[] arrays;

  /** For each place the arguments that are its array. */
  private final Use[][] uses;

  /** For each place the array through which elements are copied; null where none was needed. */
  private final @Nullable Object[] staging;

  /** For each step a kernel with its arguments, or null for a filling. */
  private final @Nullable BoundFunction[] bound;

  private int rows = -1;
  private boolean closed;

  HostWorkspace(HostExecutable executable) {
    this.executable = executable;
    this.inputs = ports(executable, executable.inputs());
    this.outputs = ports(executable, executable.outputs());
    this.arrays = executable.constants();
    this.staging = new @Nullable Object[arrays.length];
    this.bound = new @Nullable BoundFunction[executable.steps().size()];
    List<List<Use>> found = new ArrayList<>();
    for (int i = 0; i < arrays.length; i++) {
      found.add(new ArrayList<>());
    }
    for (int step = 0; step < bound.length; step++) {
      if (executable.steps().get(step) instanceof HostExecutable.Step.Launch launch) {
        for (int index = 0; index < launch.places().length; index++) {
          found.get(launch.places()[index]).add(new Use(step, index));
        }
      }
    }
    this.uses = found.stream().map(list -> list.toArray(Use[]::new)).toArray(Use[][]::new);
  }

  private static Port[] ports(HostExecutable executable, List<Buffer> buffers) {
    return buffers.stream().map(buffer -> Port.of(executable, buffer)).toArray(Port[]::new);
  }

  @Override
  public void run(int newRows, TensorBuffer[] in, TensorBuffer[] out) {
    bind(newRows, in, out);
    if (newRows == 0) {
      return;
    }
    if (executable.isRehearsed()) {
      execute();
    } else {
      executeSlowly();
    }
    give(out);
  }

  private void executeSlowly() {
    if (executable.isWorthRehearsing(rows)) {
      warmUp();
    }
    long start = System.nanoTime();
    execute();
    executable.spent(System.nanoTime() - start);
  }

  /** Runs, but so that the next run is a fast one. */
  void prepare(int newRows, TensorBuffer[] in, TensorBuffer[] out) {
    bind(newRows, in, out);
    if (newRows > 0) {
      warmUp();
      execute();
      give(out);
    }
  }

  private void warmUp() {
    executable.warmUp(Arrays.stream(bound).filter(Objects::nonNull).toList());
  }

  /** Has the launches use these arrays, unless they do. */
  private void bind(int newRows, TensorBuffer[] in, TensorBuffer[] out) {
    checkOpen();
    if (newRows != rows) {
      rows = -1;
      Map<Var, Long> scalars = Map.of(executable.rowsVar(), (long) newRows);
      for (Buffer buffer : executable.scratch()) {
        int place = executable.placeOf(buffer);
        if (place >= 0) {
          long elements = HostExecutable.elements(buffer, scalars);
          if (HostArrays.length(arrays[place]) < elements) {
            arrays[place] = HostArrays.allocate(buffer.dtype(), elements, buffer.name());
          }
        }
      }
      Arrays.fill(bound, null);
      takeAll(newRows, in, out);
      if (newRows > 0) {
        for (int i = 0; i < bound.length; i++) {
          bound[i] =
              executable.steps().get(i) instanceof HostExecutable.Step.Launch launch
                  ? launch.bind(arrays, scalars)
                  : null;
        }
      }
      rows = newRows;
      return;
    }
    takeAll(newRows, in, out);
  }

  private void takeAll(int newRows, TensorBuffer[] in, TensorBuffer[] out) {
    for (int i = 0; i < inputs.length; i++) {
      Port port = inputs[i];
      if (port.place >= 0) {
        Object array = Elements.array(in[i], port.type);
        if (array == null) {
          array = staging(port, newRows);
          Elements.move(
              Elements.segment(in[i]),
              in[i].type(),
              Elements.segment(array),
              port.type,
              newRows * port.features);
        }
        put(port.place, array);
      }
    }
    for (int i = 0; i < outputs.length; i++) {
      Port port = outputs[i];
      if (port.place >= 0) {
        Object array = Elements.array(out[i], port.type);
        put(port.place, array == null ? staging(port, newRows) : array);
      }
    }
  }

  private Object staging(Port port, int newRows) {
    Object array = staging[port.place];
    long elements = newRows * port.features;
    if (array == null || HostArrays.length(array) < elements) {
      array = HostArrays.allocate(port.type, elements, "of a copied tensor");
      staging[port.place] = array;
    }
    return array;
  }

  private void put(int place, Object array) {
    if (arrays[place] == array) {
      return;
    }
    arrays[place] = array;
    for (Use use : uses[place]) {
      BoundFunction launch = bound[use.step];
      if (launch != null) {
        launch.replace(use.index, array);
      }
    }
  }

  /** Copies what was computed to where it is wanted, if it is not there. */
  private void give(TensorBuffer[] out) {
    for (int i = 0; i < outputs.length; i++) {
      Port port = outputs[i];
      if (port.place >= 0 && Elements.array(out[i], port.type) == null) {
        Elements.move(
            Elements.segment(arrays[port.place]),
            port.type,
            Elements.segment(out[i]),
            out[i].type(),
            rows * port.features);
      }
    }
  }

  /** The kernels alone, on what was bound last. */
  void execute() {
    for (int i = 0; i < bound.length; i++) {
      execute(i);
    }
  }

  private void execute(int step) {
    BoundFunction launch = bound[step];
    if (launch != null) {
      launch.run(executable.parallel());
    } else if (executable.steps().get(step)
        instanceof HostExecutable.Step.Fill(int place, int value)) {
      HostArrays.fill(arrays[place], value);
    }
  }

  Executable.Timing time(int repetitions) {
    int launches =
        (int)
            executable.steps().stream()
                .filter(HostExecutable.Step.Launch.class::isInstance)
                .count();
    double[][] each = new double[launches][repetitions];
    if (rows <= 0) {
      return new Executable.Timing(0, Arrays.stream(each).map(launch -> 0.0).toList());
    }
    warmUp();
    double[] totals = new double[repetitions];
    for (int r = -1; r < repetitions; r++) {
      int launch = 0;
      for (int i = 0; i < bound.length; i++) {
        long start = System.nanoTime();
        execute(i);
        double micros = (System.nanoTime() - start) / 1e3;
        if (r >= 0) {
          totals[r] += micros;
          if (bound[i] != null) {
            each[launch++][r] = micros;
          }
        }
      }
    }
    return new Executable.Timing(
        HostExecutable.median(totals), Arrays.stream(each).map(HostExecutable::median).toList());
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the program is closed");
    }
    executable.checkOpen();
  }

  @Override
  public void close() {
    closed = true;
    Arrays.fill(arrays, new byte[0]);
    Arrays.fill(staging, null);
    Arrays.fill(bound, null);
    rows = -1;
  }
}
