package dev.warpwright.sim.expr;

/** A compiled statement. */
public interface Exec {
  void run(Frame f);
}
