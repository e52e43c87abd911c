package dev.warpwright.jvm;

/**
 * What generated code is handed beside its arguments: where to run loops and to find scratch, and
 * how much of the work to do.
 */
final class Frame {
  /** A limit that no loop exceeds. */
  static final int ALL = Integer.MAX_VALUE;

  private final Parallel parallel;
  private final ThreadLocal<Scratch> scratch;

  /** Iterations at most of a loop with vectors in an outlined nest. Read by generated code. */
  final int limit;

  /** Iterations at most of a loop in a nest without vectors. Read by generated code. */
  final int scalarLimit;

  /** Iterations at most of a loop around outlined nests. Read by generated code. */
  final int outerLimit;

  /** Whether outlined nests return at once. Read by generated code. */
  final boolean dry;

  Frame(Parallel parallel, ThreadLocal<Scratch> scratch, int limit, boolean dry) {
    this.parallel = parallel;
    this.scratch = scratch;
    this.limit = limit;
    this.scalarLimit = limit == ALL ? ALL : 32 * limit;
    this.outerLimit = limit == ALL ? ALL : 1;
    this.dry = dry;
  }

  Parallel parallel() {
    return parallel;
  }

  /** The scratch arrays of the current thread. */
  Scratch scratch() {
    return scratch.get();
  }
}
