package dev.warpwright.sim;

/** A compiled statement. */
interface Exec {
  void run(Frame f);
}
