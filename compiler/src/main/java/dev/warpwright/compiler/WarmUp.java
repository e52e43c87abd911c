package dev.warpwright.compiler;

import java.time.Duration;

/**
 * Calls something until it gets no faster. The JVM interprets new code, compiles it quickly and
 * then thoroughly, while it runs: the time of a call falls in steps, with pauses between them.
 */
final class WarmUp {
  private static final long WINDOW_NANOS = Duration.ofMillis(50).toNanos();

  /** Windows without progress after which nothing more is expected. */
  private static final int PATIENCE = 8;

  private static final long LIMIT_NANOS = Duration.ofSeconds(5).toNanos();

  /** A smaller gain is no step. */
  private static final double PROGRESS = 0.95;

  private WarmUp() {}

  static void run(Runnable call) {
    long start = System.nanoTime();
    long fastest = Long.MAX_VALUE;
    int idle = 0;
    while (idle < PATIENCE && System.nanoTime() - start < LIMIT_NANOS) {
      long least = Long.MAX_VALUE;
      long window = System.nanoTime();
      long now = window;
      while (now - window < WINDOW_NANOS) {
        call.run();
        long end = System.nanoTime();
        least = Math.min(least, end - now);
        now = end;
      }
      idle = least < PROGRESS * fastest ? 0 : idle + 1;
      fastest = Math.min(fastest, least);
    }
  }
}
