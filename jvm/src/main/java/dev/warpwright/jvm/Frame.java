package dev.warpwright.jvm;

/** What generated code is handed beside its arguments: where to run loops and to find scratch. */
final class Frame {
  private final Parallel parallel;
  private final ThreadLocal<Scratch> scratch;

  Frame(Parallel parallel, ThreadLocal<Scratch> scratch) {
    this.parallel = parallel;
    this.scratch = scratch;
  }

  Parallel parallel() {
    return parallel;
  }

  /** The scratch arrays of the current thread. */
  Scratch scratch() {
    return scratch.get();
  }
}
