package dev.warpwright.sim;

/** A simulated thread. */
record ThreadId(Index3 block, Index3 thread) {
  @Override
  public String toString() {
    return "block " + block + " thread " + thread;
  }
}
