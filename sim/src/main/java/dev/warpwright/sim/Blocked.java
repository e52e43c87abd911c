package dev.warpwright.sim;

import dev.warpwright.ir.Stmt;

/** Why a warp does not go on. */
interface Blocked {
  /** Whether it can go on now. */
  boolean isOver();

  /** The statement at which it waits. */
  Stmt where();

  /** What it waits for, for messages. */
  String what();
}
