package dev.warpwright.sim.block;

import dev.warpwright.ir.Stmt;

/** Why a warp does not go on. */
public interface Blocked {
  /** Whether it can go on now. */
  boolean isOver();

  /** The statement at which it waits. */
  Stmt where();

  /** What it waits for, for messages. */
  String what();
}
