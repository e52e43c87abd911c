package dev.warpwright.compiler.execute;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.Dim3;
import dev.warpwright.runtime.cuda.PinnedBuffer;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.target.intrinsic.TensorMaps;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Inputs and outputs of few rows in the host's memory, where the kernel reads and writes them by
 * itself: a copy there and one back would take longer than a small network does.
 */
final class NearMemory {
  /** So many bytes may all blocks together move over the bus: it has a hundredth of L2's rate. */
  private static final long MOST = 128 << 10;

  /** The only kernel; null if there are several, or it has TMA copies. */
  private final Program.@Nullable Launch launch;

  private final Map<Buffer, PinnedBuffer> pinned = new HashMap<>();

  NearMemory(Program program) {
    List<Program.Step> steps = program.steps();
    this.launch =
        steps.size() == 1
                && steps.getFirst() instanceof Program.Launch only
                && TensorMaps.of(only.kernel()).maps().isEmpty()
            ? only
            : null;
  }

  /** Whether a buffer of so many bytes may be there, as if each block moved all of it. */
  boolean suits(long bytes, Map<Var, Long> scalars) {
    if (launch == null || bytes > MOST) {
      return false;
    }
    Dim3 grid = GridLauncher.dim(launch.kernel(), ThreadAxis.BLOCK_X, scalars);
    return bytes * grid.x() * grid.y() * grid.z() <= MOST;
  }

  /** Keeps memory for a buffer, in place of what it had: what kernels are given. */
  CudaBuffer put(Buffer buffer, PinnedBuffer memory) {
    remove(buffer);
    pinned.put(buffer, memory);
    return memory.onDevice();
  }

  /** The memory of a buffer; null if it is on the device. */
  @Nullable PinnedBuffer of(Buffer buffer) {
    return pinned.get(buffer);
  }

  /** Frees what a buffer has here. */
  void remove(Buffer buffer) {
    PinnedBuffer old = pinned.remove(buffer);
    if (old != null) {
      old.close();
    }
  }

  void close() {
    pinned.values().forEach(PinnedBuffer::close);
    pinned.clear();
  }
}
