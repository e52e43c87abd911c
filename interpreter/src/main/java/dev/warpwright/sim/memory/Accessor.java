package dev.warpwright.sim.memory;

import dev.warpwright.ir.Buffer;
import org.jspecify.annotations.Nullable;

/** A thread of execution as one who accesses memory, for checks of what it accesses. */
public abstract class Accessor {
  /** The thread's warp, for race checks, null for the interpreter. */
  public @Nullable Actor actor;

  /** The thread's bit in masks of its warp. */
  public int laneBit;

  /** The thread's number in its warp. */
  public byte warpLane;

  /** Who executes a tile program, for pipes and signals, null in kernels. */
  public @Nullable FlowParty process;

  /** Names of all processes that run at once with this one. */
  public String[] processes = {};

  /** Who executes, for messages. */
  public abstract String who();

  /**
   * An extent of a buffer in this execution.
   *
   * @param slot of the buffer
   */
  public abstract long extent(Buffer buffer, int slot, int dimension);
}
