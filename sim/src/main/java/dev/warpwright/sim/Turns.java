package dev.warpwright.sim;

/**
 * What the simulator has for time: how often a warp was let go on. It says what came before what,
 * not how long anything takes.
 */
final class Turns {
  private long count;

  void next() {
    count++;
  }

  long now() {
    return count;
  }
}
