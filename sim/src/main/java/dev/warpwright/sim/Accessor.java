package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import org.jspecify.annotations.Nullable;

/** A thread of execution as one who accesses memory, for checks of what it accesses. */
abstract class Accessor {
  /** The thread's warp, for race checks, null for the interpreter. */
  @Nullable Actor actor;

  /** The thread's bit in masks of its warp. */
  int laneBit;

  /** The thread's number in its warp. */
  byte warpLane;

  /** Who executes a tile program, for pipes and signals, null in kernels. */
  @Nullable FlowParty process;

  /** Names of all processes that run at once with this one. */
  String[] processes = {};

  /** Who executes, for messages. */
  abstract String who();

  /**
   * An extent of a buffer in this execution.
   *
   * @param slot of the buffer
   */
  abstract long extent(Buffer buffer, int slot, int dimension);
}
