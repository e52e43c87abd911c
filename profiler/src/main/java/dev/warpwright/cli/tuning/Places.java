package dev.warpwright.cli.tuning;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Work that is done at several places at once: at each of them one piece after the other. */
final class Places {
  /** Does a piece of work at a place. */
  @FunctionalInterface
  interface Step<P, W, R> {
    R at(P place, W work) throws InterruptedException;
  }

  /** Work whose pieces can be begun while the ones before them are still under way. */
  interface Turns<P, W, B, R> {
    /** Does of a piece what disturbs nothing at the place. */
    B begin(P place, W work) throws InterruptedException;

    /**
     * Does the rest, alone at the place.
     *
     * @param next to be called when the next piece may begin; else that is when this one is done
     */
    R end(P place, B begun, Runnable next) throws InterruptedException;

    /** The place has nothing to do any more. */
    void leave(P place);
  }

  private Places() {}

  /**
   * Does all pieces, the first ones first: at each place one after the other, and the next one is
   * begun meanwhile.
   *
   * @param places at which it is done
   * @param results take what came of each piece as soon as it is there, or its exception; none is
   *     left open
   * @throws InterruptedException if the thread is interrupted; pieces under way are interrupted,
   *     too
   */
  static <P, W, B, R> void inTurns(
      List<P> places, List<W> work, Turns<P, W, B, R> turns, List<CompletableFuture<R>> results)
      throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(places.size());
    try {
      List<Lane<P, W, B, R>> lanes =
          places.stream().map(place -> new Lane<>(place, work, next, turns, results)).toList();
      threads.invokeAll(lanes);
    } finally {
      threads.shutdownNow();
      results.forEach(
          result -> result.completeExceptionally(new IllegalStateException("it was not done")));
    }
  }

  /** What one place does. */
  private static final class Lane<P, W, B, R> implements Callable<Void> {
    private final P place;
    private final List<W> work;
    private final AtomicInteger next;
    private final Turns<P, W, B, R> turns;
    private final List<CompletableFuture<R>> results;
    private final ExecutorService ahead = Executors.newSingleThreadExecutor();
    private @Nullable Begun<B> following;

    private record Begun<B>(int piece, Future<B> future) {}

    Lane(
        P place,
        List<W> work,
        AtomicInteger next,
        Turns<P, W, B, R> turns,
        List<CompletableFuture<R>> results) {
      this.place = place;
      this.work = work;
      this.next = next;
      this.turns = turns;
      this.results = results;
    }

    @Override
    public @Nullable Void call() throws InterruptedException {
      try {
        begin();
        for (Begun<B> now = following; now != null; now = following) {
          following = null;
          CompletableFuture<R> result = results.get(now.piece());
          try {
            result.complete(turns.end(place, now.future().get(), this::begin));
          } catch (ExecutionException e) {
            result.completeExceptionally(e.getCause());
          } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
          }
          begin();
        }
      } finally {
        ahead.shutdownNow();
        turns.leave(place);
      }
      return null;
    }

    private void begin() {
      int piece = following == null ? next.getAndIncrement() : work.size();
      if (piece < work.size()) {
        following = new Begun<>(piece, ahead.submit(() -> turns.begin(place, work.get(piece))));
      }
    }
  }

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
