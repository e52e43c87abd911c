package dev.warpwright.sim.block;

/**
 * What the simulator has for time: how often a warp was let go on. It says what came before what,
 * not how long anything takes.
 */
public final class Turns {
  private long count;

  public void next() {
    count++;
  }

  public long now() {
    return count;
  }
}
