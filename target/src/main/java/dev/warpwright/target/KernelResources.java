package dev.warpwright.target;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Where the shared buffers of a grid kernel lie, which decides how much shared memory its launch
 * asks for. Nested allocations lie one after the other; allocations of which neither encloses the
 * other share their space, so a kernel must have a barrier between the last use of the one and the
 * first of the other.
 *
 * @param sharedBytes shared memory of a block
 * @param dynamic whether it is one dynamic allocation, because static memory ends at {@link
 *     GpuTarget#STATIC_SHARED}; the launch then passes {@code sharedBytes}, otherwise 0
 * @param offsets first byte of each shared buffer, in the order of the allocations
 * @param overlapping whether some buffers share space
 */
public record KernelResources(
    int sharedBytes, boolean dynamic, Map<Buffer, Integer> offsets, boolean overlapping) {
  /** Least alignment of a shared buffer, so that every vector width may be used on it. */
  private static final int ALIGNMENT = 16;

  /** Copies the offsets and keeps their order. */
  public KernelResources {
    offsets = Collections.unmodifiableMap(new LinkedHashMap<>(offsets));
  }

  /**
   * {@return the resources of a kernel}
   *
   * @param kernel for a grid
   * @throws IllegalArgumentException if a shared buffer has no constant shape
   */
  public static KernelResources of(Kernel kernel) {
    Planner planner = new Planner();
    long bytes = planner.place(kernel.body(), 0);
    return new KernelResources(
        Math.toIntExact(bytes),
        bytes > GpuTarget.STATIC_SHARED,
        planner.offsets,
        planner.allocated > bytes);
  }

  /** {@return bytes that the launch asks for beyond what the kernel declares} */
  public int dynamicSharedBytes() {
    return dynamic ? sharedBytes : 0;
  }

  /** {@return alignment of the whole: the greatest of the buffers'} */
  public int alignment() {
    return offsets.keySet().stream().mapToInt(KernelResources::alignment).max().orElse(ALIGNMENT);
  }

  /**
   * {@return alignment in bytes that a shared buffer gets}
   *
   * @param buffer in shared memory
   */
  public static int alignment(Buffer buffer) {
    return Math.max(buffer.alignment(), ALIGNMENT);
  }

  private static long align(long offset, int alignment) {
    return (offset + alignment - 1) & -alignment;
  }

  /** Walks the allocations; {@code allocated} is what they would take without sharing. */
  private static final class Planner {
    private final Map<Buffer, Integer> offsets = new LinkedHashMap<>();
    private long allocated;

    /** Places everything in a statement from {@code base} on and gives the end. */
    long place(Stmt s, long base) {
      return switch (s) {
        case Stmt.Alloc(Buffer buffer, Stmt body) when buffer.scope() == Scope.SHARED -> {
          if (!buffer.hasConstantShape()) {
            throw new IllegalArgumentException("shared buffer without constant shape: " + buffer);
          }
          long start = align(base, alignment(buffer));
          long bytes = buffer.storageElements() * buffer.dtype().bytes();
          allocated = align(allocated, alignment(buffer)) + bytes;
          offsets.put(buffer, Math.toIntExact(start));
          yield place(body, start + bytes);
        }
        case Stmt.Alloc(Buffer buffer, Stmt body) -> place(body, base);
        case Stmt.Seq seq -> {
          long end = base;
          for (Stmt each : seq.stmts()) {
            end = Math.max(end, place(each, base));
          }
          yield end;
        }
        case Stmt.For f -> place(f.body(), base);
        case Stmt.While w -> place(w.body(), base);
        case Stmt.If i -> {
          long end = place(i.then(), base);
          yield i.otherwise() == null ? end : Math.max(end, place(i.otherwise(), base));
        }
        case Stmt.Let l -> place(l.body(), base);
        case Stmt.Store store -> base;
        case Stmt.Evaluate evaluate -> base;
        case Stmt.Comment comment -> base;
        case Stmt.Block _,
            Stmt.TileCopy _,
            Stmt.TileFill _,
            Stmt.TileMma _,
            Stmt.TileMap _,
            Stmt.TileReduce _,
            Stmt.Flow _ ->
            throw notInKernel(s);
      };
    }

    private static IllegalArgumentException notInKernel(Stmt s) {
      return new IllegalArgumentException(s.getClass().getSimpleName() + " in a kernel");
    }
  }
}
