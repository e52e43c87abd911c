package dev.warpwright.measure;

import dev.warpwright.ir.Buffer;
import dev.warpwright.measure.reference.BenchMemory;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundKernel.Content;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Launches of a kernel on memory that was made for another kernel of the same workload, one for
 * each set: they find inputs by name. What else the kernel needs is its own, and the same for all
 * sets.
 *
 * @param results memory of the workload's result in each set
 * @param own memory that only this kernel uses
 */
record SetLaunches(List<CudaLaunch> launches, List<CudaBuffer> results, Map<Buffer, CudaBuffer> own)
    implements AutoCloseable {
  private static final byte POISON = (byte) 0xFF;

  /**
   * Prepares.
   *
   * @param ownResults whether each set has another result than the one in {@code memory}, which
   *     belongs to it
   */
  static SetLaunches of(
      BoundKernel bound,
      GridLauncher launcher,
      BoundWorkload workload,
      BenchMemory memory,
      CudaContext context,
      CudaStream stream,
      boolean ownResults) {
    Map<Buffer, CudaBuffer> own = new HashMap<>();
    bound
        .contents()
        .forEach(
            (buffer, content) -> {
              if (shared(workload, buffer) == null) {
                CudaBuffer fresh = context.allocate(BoundWorkload.bytes(buffer));
                own.put(buffer, fresh);
                fill(fresh, content, stream);
              }
            });
    stream.synchronize();
    List<CudaLaunch> launches = new ArrayList<>();
    List<CudaBuffer> results = new ArrayList<>();
    for (int set = 0; set < memory.count(); set++) {
      Map<Buffer, CudaBuffer> arguments = new HashMap<>(own);
      CudaBuffer result =
          ownResults
              ? memory.allocate(BoundWorkload.bytes(workload.result()))
              : memory.get(set, workload.result());
      for (Buffer buffer : bound.contents().keySet()) {
        Buffer mine = shared(workload, buffer);
        if (mine != null) {
          arguments.put(buffer, mine == workload.result() ? result : memory.get(set, mine));
        }
      }
      results.add(result);
      launches.add(launcher.prepare(arguments, Map.of()));
    }
    return new SetLaunches(launches, results, own);
  }

  private static void fill(CudaBuffer fresh, Content content, CudaStream stream) {
    switch (content) {
      case Content.Table(List<Integer> values) ->
          fresh.copyFrom(
              MemorySegment.ofArray(values.stream().mapToInt(Integer::intValue).toArray()), stream);
      case Content.Zero() -> fresh.poison((byte) 0, stream);
      case Content.Random _, Content.Poison _ -> fresh.poison(POISON, stream);
    }
  }

  /** The input or output of this name. */
  private static @Nullable Buffer shared(BoundWorkload workload, Buffer buffer) {
    for (List<Buffer> some : List.of(workload.inputs(), workload.outputs())) {
      for (Buffer mine : some) {
        if (mine.name().equals(buffer.name()) && mine.dtype() == buffer.dtype()) {
          return mine;
        }
      }
    }
    return null;
  }

  @Override
  public void close() {
    own.values().forEach(CudaBuffer::close);
  }
}
