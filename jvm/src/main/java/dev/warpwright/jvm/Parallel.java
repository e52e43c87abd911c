package dev.warpwright.jvm;

/** Runs the iterations of a parallel loop. */
@FunctionalInterface
public interface Parallel {
  /** One after the other, on the calling thread. */
  Parallel SERIAL =
      (count, body) -> {
        if (count > 0) {
          body.run(0, count);
        }
      };

  /** Some iterations of a loop. */
  @FunctionalInterface
  interface Body {
    /** Runs the iterations {@code begin ≤ i < end}. */
    void run(int begin, int end);
  }

  /**
   * Runs the iterations {@code 0 ≤ i < count}, each exactly once, in any order, and returns when
   * all are done; their effects are visible to the caller then. If one throws, iterations that have
   * not begun are dropped and the first exception is thrown here.
   */
  void run(int count, Body body);
}
