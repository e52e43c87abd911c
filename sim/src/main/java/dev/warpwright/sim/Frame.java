package dev.warpwright.sim;

import org.jspecify.annotations.Nullable;

/**
 * The state of one thread of execution: values of variables, storage of buffers. A variable or
 * buffer is a slot, given out by {@link Symbols}.
 */
final class Frame {
  final long[] ints;
  final double[] floats;
  final byte[][] memory;

  /** Outermost extent of each buffer. */
  final long[] outer;

  /** Shadow of each buffer whose accesses are checked, null for the others. */
  final @Nullable Shadow[] shadows;

  /** The vector lane for which an expression is being evaluated. */
  int lane;

  /** Values of a store before they are stored, one for each vector lane. */
  final double[] pendingReals = new double[Symbols.MAX_LANES];

  final long[] pendingInts = new long[Symbols.MAX_LANES];

  /** Working arrays of {@link ReduceLoop}s. */
  final double[][] scratch;

  /** All extents of each global buffer, null for the others. */
  final long[][] shapes;

  /** The thread's warp, for race checks, null for the interpreter. */
  @Nullable Actor actor;

  /** Where the warp's requests are counted, null if they are not. */
  @Nullable WarpRequests requests;

  /** The thread's bit in masks of its warp. */
  int laneBit;

  /** The thread's number in its warp. */
  byte warpLane;

  /** The simulated thread, null for the interpreter. */
  @Nullable ThreadId thread;

  /** Who executes a tile program, for pipes and signals, null in kernels. */
  @Nullable RoleProcess process;

  /** Names of all processes that run at once with this one. */
  String[] processes = {};

  Frame(Symbols symbols) {
    ints = new long[symbols.intSlots()];
    floats = new double[symbols.realSlots()];
    memory = new byte[symbols.bufferSlots()][];
    outer = new long[symbols.bufferSlots()];
    shapes = new long[symbols.bufferSlots()][];
    scratch = new double[symbols.scratchSlots()][ReduceLoop.CHUNK];
    shadows = new Shadow[symbols.bufferSlots()];
  }

  /** The same values and memory for a process of its own. */
  Frame copyFor(RoleProcess other, Symbols symbols, String[] names) {
    Frame copy = new Frame(symbols);
    System.arraycopy(ints, 0, copy.ints, 0, ints.length);
    System.arraycopy(floats, 0, copy.floats, 0, floats.length);
    System.arraycopy(memory, 0, copy.memory, 0, memory.length);
    System.arraycopy(outer, 0, copy.outer, 0, outer.length);
    System.arraycopy(shapes, 0, copy.shapes, 0, shapes.length);
    System.arraycopy(shadows, 0, copy.shadows, 0, shadows.length);
    copy.process = other;
    copy.processes = names;
    return copy;
  }

  /** Who executes, for messages. */
  String who() {
    return thread != null ? thread.toString() : process != null ? process.name() : "";
  }
}
