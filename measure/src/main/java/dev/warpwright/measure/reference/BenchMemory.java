package dev.warpwright.measure.reference;

import dev.warpwright.ir.Buffer;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundKernel.Content;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.lang.foreign.MemorySegment;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Device memory of a run: several sets of inputs and outputs, so many that going through them in
 * turn moves more than three times L2 before one comes again, and tables and counters, which all
 * sets share. The first and the last set, whose results are verified, have random inputs of their
 * own; the sets between are copies of the first. Closing it frees all.
 */
public final class BenchMemory implements AutoCloseable {
  private static final byte POISON = (byte) 0xFF;
  private static final int MIN_SETS = 2;
  private static final int MAX_SETS = 256;

  private final BoundKernel bound;
  private final CudaContext context;
  private final CudaStream stream;
  private final long seed;
  private final int count;
  private final List<CudaBuffer> owned = new ArrayList<>();
  private final List<Map<Buffer, CudaBuffer>> sets = new ArrayList<>();

  /** Inputs that were made, as long as there is memory for them: references are checked by them. */
  private final Map<Buffer, Map<Integer, SoftReference<HostMatrix>>> made = new HashMap<>();

  public BenchMemory(BoundKernel bound, CudaContext context, CudaStream stream, long seed) {
    this.bound = bound;
    this.context = context;
    this.stream = stream;
    this.seed = seed;
    Map<Buffer, CudaBuffer> shared = new HashMap<>();
    bound
        .contents()
        .forEach(
            (buffer, content) -> {
              switch (content) {
                case Content.Table(List<Integer> values) -> {
                  int[] table = values.stream().mapToInt(Integer::intValue).toArray();
                  CudaBuffer memory = allocate(BoundWorkload.bytes(buffer));
                  memory.copyFrom(MemorySegment.ofArray(table), stream);
                  shared.put(buffer, memory);
                }
                case Content.Zero() -> {
                  CudaBuffer memory = allocate(BoundWorkload.bytes(buffer));
                  memory.poison((byte) 0, stream);
                  shared.put(buffer, memory);
                }
                case Content.Random _, Content.Poison _ -> {}
              }
            });
    this.count = sets(bound, context.device().l2Bytes());
    for (int set = 0; set < count; set++) {
      Map<Buffer, CudaBuffer> memory = new HashMap<>(shared);
      for (Buffer buffer : bound.kernel().buffers()) {
        if (!shared.containsKey(buffer)) {
          memory.put(buffer, allocate(BoundWorkload.bytes(buffer)));
        }
      }
      sets.add(memory);
      for (Buffer input : bound.workload().inputs()) {
        // Hundreds of megabytes of random numbers would take the processor a second.
        if (set == source(set)) {
          get(set, input).copyFrom(host(set, input).segment(), stream);
        } else {
          get(set, input).copyFrom(get(source(set), input), stream);
        }
      }
      poison(set);
    }
    stream.synchronize();
  }

  /** How many sets a workload needs on a device with this cache. */
  public static int sets(BoundKernel bound, long l2Bytes) {
    long bytes = bound.workload().leastBytes();
    return (int) Math.clamp(Math.ceilDiv(3 * l2Bytes, bytes), MIN_SETS, MAX_SETS);
  }

  public CudaBuffer allocate(long bytes) {
    CudaBuffer buffer = context.allocate(bytes);
    owned.add(buffer);
    return buffer;
  }

  public int count() {
    return count;
  }

  /** Memory of the kernel's buffers in a set. */
  public Map<Buffer, CudaBuffer> set(int set) {
    return sets.get(set);
  }

  public CudaBuffer get(int set, Buffer buffer) {
    CudaBuffer memory = sets.get(set).get(buffer);
    if (memory == null) {
      throw new IllegalArgumentException("no memory for " + buffer);
    }
    return memory;
  }

  /** The set that one has its inputs from. */
  private int source(int set) {
    return set == count - 1 ? set : 0;
  }

  /** The content of an input; made again if it was forgotten. */
  HostMatrix host(int set, Buffer input) {
    int source = source(set);
    Map<Integer, SoftReference<HostMatrix>> known =
        made.computeIfAbsent(input, i -> new HashMap<>());
    SoftReference<HostMatrix> reference = known.get(source);
    HostMatrix matrix = reference == null ? null : reference.get();
    if (matrix == null) {
      int index = bound.workload().inputs().indexOf(input);
      matrix =
          HostMatrix.random(
              input, bound.workload().deviation(input), seed + 31L * source + 1_000_003L * index);
      known.put(source, new SoftReference<>(matrix));
    }
    return matrix;
  }

  /** Overwrites what the kernel has to write, so that nothing of an earlier launch is left. */
  public void poison(int set) {
    bound
        .contents()
        .forEach(
            (buffer, content) -> {
              if (content instanceof Content.Poison) {
                get(set, buffer).poison(POISON, stream);
              }
            });
  }

  @Override
  public void close() {
    owned.forEach(CudaBuffer::close);
  }
}
