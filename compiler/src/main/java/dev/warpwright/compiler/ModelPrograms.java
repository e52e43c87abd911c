package dev.warpwright.compiler;

import dev.warpwright.base.DeepStack;
import dev.warpwright.base.files.FileBytes;
import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.WorkspacePool;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.records.NetworkKey;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.model.graph.Attend;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.WorkloadKey;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The programs of a model by row count, each with its workspaces. Row counts that were there before
 * are found without waiting.
 */
final class ModelPrograms implements AutoCloseable {
  /** From so many rows on kernels are the same on the CPU. */
  private static final int LARGEST = 4096;

  /** The same on GPUs, whose SMs have large tiles, or one for each of their warps, by then. */
  private static final int LARGEST_OF_GPUS = 1 << 17;

  /** Row counts whose pools are remembered on devices where not all buckets are powers of two. */
  private static final int REMEMBERED = 1024;

  private final Graph graph;
  private final Device device;
  private final Precision precision;
  private final int mostWorkspaces;
  private final boolean attends;
  private final ConstantStore constants = new ConstantStore();

  /** Held by whoever compiles or closes. */
  private final Object lock = new Object();

  private final Map<Integer, Boolean> byLayer = new HashMap<>();
  private final Map<Variant, CompiledProgram> programs = new HashMap<>();
  private final Map<Variant, WorkspacePool> pools = new HashMap<>();
  private final Map<WorkloadKey, Optional<String>> preferred = new HashMap<>();

  /** By the exponent of the bucket, on the CPU. */
  private final AtomicReferenceArray<@Nullable WorkspacePool> byBucket =
      new AtomicReferenceArray<>(32);

  /** By row count, elsewhere. */
  private final Map<Integer, WorkspacePool> byRows = new ConcurrentHashMap<>();

  private boolean closed;

  /**
   * What row counts share a program by.
   *
   * @param preferred the alternative that was measured to be fastest for them; empty for none
   * @param byLayer whether each layer is a GEMM, for just so many rows
   */
  private record Variant(int rows, String preferred, boolean byLayer) {}

  ModelPrograms(Graph graph, Device device, Precision precision, int mostWorkspaces) {
    this.graph = graph;
    this.device = device;
    this.precision = precision;
    this.mostWorkspaces = mostWorkspaces;
    this.attends = graph.needed().stream().anyMatch(Attend.class::isInstance);
  }

  /** The program for a row count; it is compiled if it is new. */
  CompiledProgram program(int rows) {
    synchronized (lock) {
      return programs.computeIfAbsent(
          variant(rows), v -> FileBytes.reading(() -> DeepStack.call(() -> compile(v))));
    }
  }

  /**
   * The program for a row count on the device, with its workspaces.
   *
   * @throws IllegalStateException if the model is closed
   */
  WorkspacePool pool(int rows) {
    boolean onGpu = device.target() instanceof GpuTarget;
    int exponent = 32 - Integer.numberOfLeadingZeros(bucket(rows) - 1);
    WorkspacePool known = onGpu ? byRows.get(rows) : byBucket.get(exponent);
    return known == null ? load(rows, onGpu, exponent) : known;
  }

  private WorkspacePool load(int rows, boolean onGpu, int exponent) {
    synchronized (lock) {
      if (closed) {
        throw new IllegalStateException("the compiled model is closed; compile the model again");
      }
      Variant variant = variant(rows);
      WorkspacePool pool = pools.get(variant);
      if (pool == null) {
        CompiledProgram program = program(rows);
        pool =
            new WorkspacePool(
                FileBytes.reading(() -> DeepStack.call(() -> device.load(program, constants))),
                mostWorkspaces);
        pools.put(variant, pool);
      }
      if (!onGpu) {
        byBucket.set(exponent, pool);
      } else {
        if (byRows.size() >= REMEMBERED) {
          byRows.clear();
        }
        byRows.put(rows, pool);
      }
      return pool;
    }
  }

  private CompiledProgram compile(Variant variant) {
    String name = variant.preferred().isEmpty() ? null : variant.preferred();
    if (!variant.byLayer()) {
      return compile(variant, null, name);
    }
    try (GemmKernels products = device.products()) {
      return compile(variant, products, name);
    }
  }

  private CompiledProgram compile(
      Variant variant, @Nullable GemmKernels products, @Nullable String name) {
    return NetworkCompiler.compile(
        graph, device.target(), precision, variant.rows(), products, name, device::spills);
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
    // A network with attention has no other way, whatever a record of another version calls it.
    boolean layers =
        measured.isEmpty() || attends
            ? byLayer.computeIfAbsent(
                padded, r -> NetworkCompiler.isByLayer(graph, target, precision, r))
            : NetworkCompiler.isForOneRowCount(measured);
    return new Variant(layers ? padded : bucket(rows), measured, layers);
  }

  /** Row counts up to the next power of two, and all large ones, share their kernels. */
  private int bucket(int rows) {
    int largest = device.target() instanceof GpuTarget ? LARGEST_OF_GPUS : LARGEST;
    return rows <= 1 ? 1 : rows >= largest ? largest : Integer.highestOneBit(rows - 1) * 2;
  }

  /**
   * Kernels for one row count compute as many rows: the next power of two up to 128, then the next
   * quarter of one, so that at most a fifth of the work is for nothing. Where each row has keys and
   * values of its own to read, few rows are not padded either.
   */
  private int padded(int rows) {
    if (rows <= 1) {
      return 1;
    }
    int below = Integer.highestOneBit(rows - 1);
    int step = rows <= 16 ? 16 : below < 128 ? 2 * below : below / 4;
    if (attends && below < 128) {
      step = Math.max(1, below / 4);
    }
    long padded = (long) Math.ceilDiv(rows, step) * step;
    return padded > Integer.MAX_VALUE ? rows : (int) padded;
  }

  /** Waits for the calls that run, and closes what is on the device. */
  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
      for (WorkspacePool pool : pools.values()) {
        pool.close();
        pool.executable().close();
      }
      pools.clear();
    }
  }
}
