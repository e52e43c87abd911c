package dev.warpwright.sim;

/** A simulated thread. */
record ThreadId(long[] block, long[] thread) {
  @Override
  public String toString() {
    return "block " + text(block) + " thread " + text(thread);
  }

  static String text(long[] index) {
    return "(" + index[0] + ", " + index[1] + ", " + index[2] + ")";
  }
}
