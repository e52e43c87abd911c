package dev.warpwright.sim.expr;

/** A simulated thread. */
public record ThreadId(Index3 block, Index3 thread) {
  @Override
  public String toString() {
    return "block " + block + " thread " + thread;
  }
}
