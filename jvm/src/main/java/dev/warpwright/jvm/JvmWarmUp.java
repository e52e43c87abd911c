package dev.warpwright.jvm;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Has the JVM compile kernels before they do any work. Until generated methods are compiled
 * thoroughly their vectors are objects and hundreds of times slower; and what makes the JVM compile
 * a method is how often it was called. So they are called often, but <em>dry</em>: outlined nests
 * return before their first loop. Now and then a call is <em>brief</em> instead, two iterations of
 * each loop, so that the JVM learns which branches are taken: it leaves out code that it has never
 * seen run.
 *
 * <p>Whatever the kernels write is garbage afterwards.
 */
public final class JvmWarmUp {
  /** Dry calls between two brief ones. */
  private static final int DRY_CALLS = 256;

  /** Rounds that suffice to have a method compiled, even if many others wait. */
  private static final int EAGER_ROUNDS = 256;

  /** Pause between rounds after that: the JVM's compilers need the cores. */
  private static final long PAUSE_NANOS = Duration.ofMillis(1).toNanos();

  /**
   * Most that a brief call takes for each vector instruction of compiled methods: it executes them
   * a few times. Objects take 20 times as long.
   */
  private static final long FAST_NANOS = 4;

  /** A brief call that takes longer is not tried on all cores. */
  private static final long BRIEF_NANOS = Duration.ofNanos(100_000).toNanos();

  /** How long it goes on after the last progress of dry calls: a compilation of what calls them. */
  private static final long IDLE_NANOS = Duration.ofMillis(25).toNanos();

  private static final long LIMIT_NANOS = Duration.ofMillis(500).toNanos();

  private final List<BoundFunction> kernels;
  private final Parallel parallel;
  private final long fastNanos;
  private final long start = System.nanoTime();
  private long fastestDry = Long.MAX_VALUE / 5;
  private long progress = start;

  private JvmWarmUp(List<BoundFunction> kernels, Parallel parallel) {
    this.kernels = kernels;
    this.parallel = parallel;
    this.fastNanos =
        FAST_NANOS * kernels.stream().mapToInt(BoundFunction::vectorInstructions).sum();
  }

  /**
   * Rehearses until the kernels are compiled, or for half a second.
   *
   * @param parallel that the kernels will be run with
   */
  public static void run(List<BoundFunction> kernels, Parallel parallel) {
    new JvmWarmUp(kernels, parallel).run();
  }

  private void run() {
    // Links everything, so that the compilers find nothing unresolved.
    call(Sampler.FIRST, 1);
    boolean fast = false;
    for (int round = 0; System.nanoTime() - start < LIMIT_NANOS; round++) {
      dry();
      fast |= brief() <= fastNanos;
      if (fast && System.nanoTime() - progress > IDLE_NANOS) {
        return;
      }
      if (round > EAGER_ROUNDS) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  /** Many calls without work, and one on all cores. */
  private void dry() {
    long begin = System.nanoTime();
    for (int i = 0; i < DRY_CALLS; i++) {
      call(Sampler.ENDS, 0);
    }
    long end = System.nanoTime();
    if ((end - begin) * 5 < fastestDry * 4) {
      fastestDry = end - begin;
      progress = end;
    }
    call(parallel, 0);
  }

  /** The time of a call with little work. */
  private long brief() {
    long begin = System.nanoTime();
    call(Sampler.ENDS, 2);
    long nanos = System.nanoTime() - begin;
    if (nanos < BRIEF_NANOS) {
      call(parallel, 2);
    }
    return nanos;
  }

  private void call(Parallel loops, int limit) {
    for (BoundFunction kernel : kernels) {
      kernel.warmUp(loops, limit);
    }
  }

  /** Runs a few iterations of a parallel loop. */
  private enum Sampler implements Parallel {
    FIRST,
    /** The last one too: it meets the conditions that the others do not. */
    ENDS;

    @Override
    public void run(int count, Body body) {
      if (count > 0) {
        body.run(0, 1);
      }
      if (count > 1 && this == ENDS) {
        body.run(count - 1, count);
      }
    }
  }
}
