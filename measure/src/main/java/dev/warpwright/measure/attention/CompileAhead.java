package dev.warpwright.measure.attention;

import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Compiles ways by as many threads as there are cores, in their order, while others are measured:
 * compiling one takes longer than timing it.
 */
final class CompileAhead implements AutoCloseable {
  /** Of one kernel; the longest took two. */
  private static final long MOST_SECONDS = 20;

  private final Map<AttentionWay, Future<CompiledAttention>> results = new HashMap<>();
  private final ExecutorService threads;

  CompileAhead(Attention attention, List<AttentionWay> ways, GpuTarget target) {
    int cores = Runtime.getRuntime().availableProcessors();
    threads = Executors.newFixedThreadPool(Math.clamp(ways.size(), 1, cores));
    for (AttentionWay way : ways) {
      results.put(way, threads.submit(() -> CompiledAttention.of(attention, way, target)));
    }
  }

  /** What will be there of one of the ways. */
  Future<CompiledAttention> get(AttentionWay way) {
    return Objects.requireNonNull(results.get(way), way::text);
  }

  /** Waits, and throws what compiling threw. */
  static CompiledAttention result(Future<CompiledAttention> future) {
    try {
      return future.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while kernels are compiled", e);
    }
  }

  /**
   * Forgets what was not begun, and waits for the rest: a process that ends while the compiler
   * library works in another thread crashes in it.
   */
  @Override
  public void close() {
    threads.shutdown();
    results.values().forEach(result -> result.cancel(false));
    try {
      if (!threads.awaitTermination(MOST_SECONDS, TimeUnit.SECONDS)) {
        threads.shutdownNow();
      }
    } catch (InterruptedException e) {
      threads.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
