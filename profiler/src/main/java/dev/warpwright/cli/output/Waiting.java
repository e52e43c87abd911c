package dev.warpwright.cli.output;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Tells what a command does where that takes three seconds, and since when; nothing of what is done
 * at once.
 */
public final class Waiting implements AutoCloseable {
  private static final long SECOND = 1000;

  /** Seconds of which nothing is told. */
  private static final long SILENT = 2;

  private final Progress progress;
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());
  private String step;
  private long seconds;
  private boolean closed;

  /**
   * Begins.
   *
   * @param step what is done now
   */
  public Waiting(Progress progress, String step) {
    this(progress, step, SECOND);
  }

  /** The same with another second. */
  Waiting(Progress progress, String step, long millis) {
    this.progress = progress;
    this.step = step;
    seconds = SILENT;
    clock.scheduleAtFixedRate(this::tick, (SILENT + 1) * millis, millis, TimeUnit.MILLISECONDS);
  }

  /** What is done from now on. */
  public synchronized void step(String next) {
    step = next;
    seconds = 0;
  }

  private synchronized void tick() {
    seconds++;
    if (!closed) {
      progress.status(step + ", " + seconds + " s", false);
    }
  }

  /** Nothing is told any more. */
  @Override
  public synchronized void close() {
    closed = true;
    clock.shutdownNow();
  }
}
