package dev.warpwright.compiler.execute;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.buffer.TensorBuffer;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaEvent;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.cuda.Dim3;
import dev.warpwright.runtime.cuda.PinnedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A stream, buffers, and launches that were prepared on them. Launches are kept for the row counts
 * and device buffers that came lately; what comes a second time is replayed as a CUDA graph.
 * Buffers grow to the largest row count and stay so, for launches know their addresses.
 */
final class CudaWorkspace implements Workspace {
  private static final byte POISON = (byte) 0xFF;

  /** So many row counts and sets of buffers have their launches kept. */
  private static final int KEPT = 16;

  /**
   * What launches depend on.
   *
   * @param rows that the kernels compute
   * @param memory of the inputs, then of the outputs
   */
  private record Key(int rows, List<CudaBuffer> memory) {}

  private final CudaExecutable executable;
  private final CudaStream stream;
  private final boolean owned;
  private final List<Buffer> inputs;
  private final List<Buffer> outputs;
  private final NearMemory near;
  private final Map<Buffer, CudaBuffer> buffers = new HashMap<>();
  private final Map<Key, CudaLaunches> prepared = new LinkedHashMap<>(2 * KEPT, 0.75f, true);

  /** Off the heap, for elements that are converted on the way. */
  private MemorySegment converted = MemorySegment.NULL;

  private @Nullable CudaLaunches last;
  private boolean closed;

  /**
   * A workspace.
   *
   * @param owned whether it closes the stream with itself
   */
  CudaWorkspace(CudaExecutable executable, CudaStream stream, boolean owned) {
    this.executable = executable;
    this.stream = stream;
    this.owned = owned;
    this.inputs = executable.compiled().network().inputs();
    this.outputs = executable.compiled().network().outputs();
    this.near = new NearMemory(executable.compiled().program());
  }

  CudaStream stream() {
    return stream;
  }

  @Override
  public void run(int rows, TensorBuffer[] in, TensorBuffer[] out) {
    run(rows, in, out, false);
  }

  /** As {@link #run}, but an element that no kernel writes must not look like the last run's. */
  void verify(int rows, TensorBuffer[] in, TensorBuffer[] out) {
    run(rows, in, out, true);
  }

  @Override
  public void enqueue(int rows, TensorBuffer[] in, TensorBuffer[] out) {
    onDevice(in);
    onDevice(out);
    give(rows, in, out, false);
  }

  private static void onDevice(TensorBuffer[] tensors) {
    for (TensorBuffer tensor : tensors) {
      if (!(tensor instanceof DeviceBuffer)) {
        throw new UserError(
            "a call on a stream takes device buffers: memory of the host may change before its turn"
                + " comes; copy it to one on the stream, or run without a stream");
      }
    }
  }

  private void run(int rows, TensorBuffer[] in, TensorBuffer[] out, boolean poison) {
    give(rows, in, out, poison);
    if (rows == 0) {
      return;
    }
    stream.synchronize();
    for (int i = 0; i < outputs.size(); i++) {
      PinnedBuffer here = near.of(outputs.get(i));
      if (here != null && !(out[i] instanceof DeviceBuffer)) {
        move(here.segment(), outputs.get(i).dtype(), out[i], rows * outputs.get(i).extent(1));
      }
    }
  }

  /** Gives a run to the stream. */
  private void give(int rows, TensorBuffer[] in, TensorBuffer[] out, boolean poison) {
    if (closed) {
      throw new IllegalStateException("the program is closed");
    }
    executable.checkOpen();
    last = null;
    if (rows == 0) {
      return;
    }
    int height = executable.compiled().fixedRows().orElse(rows);
    Map<Var, Long> scalars = Map.of(executable.compiled().network().rows().var(), (long) height);
    grow(scalars);
    List<CudaBuffer> memory = new ArrayList<>();
    for (int i = 0; i < inputs.size(); i++) {
      memory.add(take(inputs.get(i), in[i], rows, height));
    }
    for (int i = 0; i < outputs.size(); i++) {
      CudaBuffer direct = direct(outputs.get(i), out[i], height);
      CudaBuffer target = direct == null ? own(outputs.get(i)) : direct;
      // A cache that is written in place is no result alone.
      if (poison && !memory.contains(target)) {
        PinnedBuffer here = direct == null ? near.of(outputs.get(i)) : null;
        if (here != null) {
          here.segment().fill(POISON);
        } else {
          target.poison(POISON, stream);
        }
      }
      memory.add(target);
    }
    CudaLaunches launches = launches(new Key(height, memory), scalars);
    launches.give(stream);
    last = launches;
    for (int i = 0; i < outputs.size(); i++) {
      give(outputs.get(i), memory.get(inputs.size() + i), out[i], rows);
    }
  }

  /** Takes results that are in the host's memory. */
  private static void move(MemorySegment from, DType type, TensorBuffer to, long elements) {
    Elements.move(from, type, Elements.segment(to), to.type(), elements);
  }

  /** Makes buffers large enough; launches on one that was too small are prepared again. */
  private void grow(Map<Var, Long> scalars) {
    Set<Buffer> counters = executable.compiled().program().counters();
    List<Buffer> sized = new ArrayList<>(inputs);
    sized.addAll(outputs);
    sized.addAll(executable.compiled().program().workspace());
    for (Buffer buffer : sized) {
      long bytes = Math.max(16, HostExecutable.elements(buffer, scalars) * buffer.dtype().bytes());
      CudaBuffer old = buffers.get(buffer);
      if (old == null || old.bytes() < bytes) {
        if (old != null) {
          // A run of fewer rows may still be under way.
          stream.synchronize();
          forget();
          near.remove(buffer);
          old.close();
        }
        boolean column = inputs.contains(buffer) || outputs.contains(buffer);
        buffers.put(
            buffer,
            column && near.suits(bytes, scalars)
                ? near.put(buffer, executable.context().allocatePinned(bytes))
                : executable.context().allocate(bytes));
        if (counters.contains(buffer)) {
          own(buffer).poison((byte) 0, stream);
        }
      }
    }
  }

  private void forget() {
    prepared.values().forEach(CudaLaunches::close);
    prepared.clear();
    last = null;
  }

  private CudaBuffer own(Buffer buffer) {
    CudaBuffer own = buffers.get(buffer);
    if (own == null) {
      throw new IllegalStateException("buffer " + buffer.name() + " is not on the device");
    }
    return own;
  }

  /** The caller's memory if kernels can use it; null if elements must be copied. */
  private static @Nullable CudaBuffer direct(Buffer buffer, TensorBuffer tensor, int height) {
    return tensor instanceof DeviceBuffer device
            && device.type() == buffer.dtype()
            && device.elements() >= height * buffer.extent(1)
        ? memory(device)
        : null;
  }

  private static CudaBuffer memory(DeviceBuffer device) {
    CudaBuffer memory = device.memory();
    if (memory == null) {
      throw new UserError("the device buffer is the CPU's; the model runs on a GPU");
    }
    return memory;
  }

  private CudaBuffer take(Buffer buffer, TensorBuffer tensor, int rows, int height) {
    CudaBuffer direct = direct(buffer, tensor, height);
    if (direct != null) {
      return direct;
    }
    CudaBuffer own = own(buffer);
    PinnedBuffer here = near.of(buffer);
    long elements = rows * buffer.extent(1);
    if (tensor instanceof DeviceBuffer device) {
      checkType(buffer, device);
      long bytes = elements * buffer.dtype().bytes();
      if (here != null) {
        memory(device).copyTo(here, bytes, stream);
      } else {
        own.copyFrom(memory(device), bytes, stream);
      }
    } else if (here != null) {
      // Nothing reads it now: each run waits for its kernel.
      Elements.move(
          Elements.segment(tensor), tensor.type(), here.segment(), buffer.dtype(), elements);
    } else {
      MemorySegment source = Elements.segment(tensor).asSlice(0, elements * tensor.type().bytes());
      if (tensor.type() != buffer.dtype()) {
        MemorySegment rounded = converted(elements * buffer.dtype().bytes());
        Elements.move(source, tensor.type(), rounded, buffer.dtype(), elements);
        source = rounded;
      }
      own.copyFrom(source, stream);
    }
    return own;
  }

  private void give(Buffer buffer, CudaBuffer result, TensorBuffer tensor, int rows) {
    long elements = rows * buffer.extent(1);
    long bytes = elements * buffer.dtype().bytes();
    PinnedBuffer here = near.of(buffer);
    if (tensor instanceof DeviceBuffer device) {
      CudaBuffer target = memory(device);
      if (target != result) {
        checkType(buffer, device);
        if (here != null) {
          target.copyFrom(here, bytes, stream);
        } else {
          target.copyFrom(result, bytes, stream);
        }
      }
    } else if (here != null) {
      return;
    } else if (tensor.type() == buffer.dtype()) {
      result.copyTo(Elements.segment(tensor).asSlice(0, bytes), stream);
    } else {
      MemorySegment bits = converted(bytes);
      result.copyTo(bits, stream);
      Elements.move(bits, buffer.dtype(), Elements.segment(tensor), tensor.type(), elements);
    }
  }

  private static void checkType(Buffer buffer, DeviceBuffer device) {
    if (device.type() != buffer.dtype()) {
      throw new UserError(
          "the device buffer holds "
              + device.type()
              + ", the kernels of this precision have "
              + buffer.dtype()
              + " there; allocate it with that type");
    }
  }

  private MemorySegment converted(long bytes) {
    if (converted.byteSize() < bytes) {
      converted =
          MemorySegment.ofArray(
              new float[Math.toIntExact(Math.ceilDiv(bytes, ValueLayout.JAVA_FLOAT.byteSize()))]);
    }
    return converted.asSlice(0, bytes);
  }

  private CudaLaunches launches(Key key, Map<Var, Long> scalars) {
    CudaLaunches known = prepared.get(key);
    if (known != null) {
      known.capture(stream);
      return known;
    }
    Map<Buffer, CudaBuffer> memory = new HashMap<>(buffers);
    memory.putAll(executable.constants());
    for (int i = 0; i < inputs.size(); i++) {
      memory.put(inputs.get(i), key.memory.get(i));
    }
    for (int i = 0; i < outputs.size(); i++) {
      memory.put(outputs.get(i), key.memory.get(inputs.size() + i));
    }
    CudaLaunches made = CudaLaunches.prepare(executable, memory, scalars);
    if (prepared.size() == KEPT) {
      Key oldest = prepared.keySet().iterator().next();
      CudaLaunches old = prepared.remove(oldest);
      if (old != null) {
        stream.synchronize();
        old.close();
      }
    }
    prepared.put(key, made);
    return made;
  }

  /** The grids of the last run's launches; empty before the first one. */
  List<Dim3> grids() {
    return last == null ? List.of() : last.grids();
  }

  Executable.Timing time(int repetitions) {
    CudaLaunches timed = last;
    List<Double> each = new ArrayList<>();
    if (timed == null) {
      executable.functions().forEach(f -> each.add(0.0));
      return new Executable.Timing(0, each);
    }
    double total = median(() -> timed.enqueue(stream), repetitions);
    List<Runnable> single = timed.single(stream);
    if (single.size() == 1) {
      each.add(total);
    } else {
      single.forEach(launch -> each.add(median(launch, repetitions)));
    }
    return new Executable.Timing(total, each);
  }

  private double median(Runnable work, int repetitions) {
    double[] micros = new double[repetitions];
    try (CudaEvent start = executable.context().newEvent();
        CudaEvent end = executable.context().newEvent()) {
      for (int r = -3; r < repetitions; r++) {
        start.record(stream);
        work.run();
        end.record(stream);
        end.synchronize();
        if (r >= 0) {
          micros[r] = end.millisSince(start) * 1e3;
        }
      }
    }
    return HostExecutable.median(micros);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    executable.closed(this);
    if (!owned && !stream.isClosed()) {
      stream.synchronize();
    }
    forget();
    buffers.values().forEach(CudaBuffer::close);
    buffers.clear();
    near.close();
    if (owned) {
      stream.close();
    }
  }
}
