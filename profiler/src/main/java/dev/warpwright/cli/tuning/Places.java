package dev.warpwright.cli.tuning;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;

/** Work that is done at several places at once: at each of them one piece after the other. */
final class Places {
  /** Does a piece of work at a place. */
  @FunctionalInterface
  interface Step<P, W, R> {
    R at(P place, W work) throws InterruptedException;
  }

  private Places() {}

  /**
   * Does all pieces, the first ones first.
   *
   * @param places at which it is done
   * @return what came of each piece, in the order of the work
   * @throws InterruptedException if the thread is interrupted; pieces under way are interrupted,
   *     too
   * @throws RuntimeException what the first piece that failed threw; the others were done before
   */
  static <P, W, R> List<R> each(List<P> places, List<W> work, Step<P, W, R> step)
      throws InterruptedException {
    BlockingQueue<P> idle = new LinkedBlockingQueue<>(places);
    ExecutorService threads = Executors.newFixedThreadPool(places.size());
    try {
      List<Future<R>> parts = new ArrayList<>();
      for (W piece : work) {
        parts.add(
            threads.submit(
                () -> {
                  P place = idle.take();
                  try {
                    return step.at(place, piece);
                  } finally {
                    idle.add(place);
                  }
                }));
      }
      List<R> results = new ArrayList<>();
      List<ExecutionException> failures = new ArrayList<>();
      for (Future<R> part : parts) {
        try {
          results.add(part.get());
        } catch (ExecutionException e) {
          failures.add(e);
        }
      }
      if (!failures.isEmpty()) {
        ExecutionException first = failures.getFirst();
        throw first.getCause() instanceof RuntimeException cause
            ? cause
            : new IllegalStateException(first);
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }
}
