package dev.warpwright.sim.expr;

import dev.warpwright.ir.Buffer;
import dev.warpwright.sim.counter.WarpRequests;
import dev.warpwright.sim.memory.Accessor;
import dev.warpwright.sim.memory.FlowParty;
import dev.warpwright.sim.memory.Shadow;
import org.jspecify.annotations.Nullable;

/**
 * The state of one thread of execution: values of variables, storage of buffers. A variable or
 * buffer is a slot, given out by {@link Symbols}.
 */
public final class Frame extends Accessor {
  /** Elements of a working array. */
  public static final int CHUNK = 512;

  public final long[] ints;
  public final double[] floats;
  public final byte[][] memory;

  /** Outermost extent of each buffer. */
  public final long[] outer;

  /** Shadow of each buffer whose accesses are checked, null for the others. */
  public final @Nullable Shadow[] shadows;

  /** The vector lane for which an expression is being evaluated. */
  public int lane;

  /** Values of a store before they are stored, one for each vector lane. */
  public final double[] pendingReals = new double[Symbols.MAX_LANES];

  public final long[] pendingInts = new long[Symbols.MAX_LANES];

  /** Working arrays of loops that gather operands. */
  public final double[][] scratch;

  /** All extents of each global buffer, null for the others. */
  public final long[][] shapes;

  /** Where the warp's requests are counted, null if they are not. */
  public @Nullable WarpRequests requests;

  /** The simulated thread, null for the interpreter. */
  public @Nullable ThreadId thread;

  public Frame(Symbols symbols) {
    ints = new long[symbols.intSlots()];
    floats = new double[symbols.realSlots()];
    memory = new byte[symbols.bufferSlots()][];
    outer = new long[symbols.bufferSlots()];
    shapes = new long[symbols.bufferSlots()][];
    scratch = new double[symbols.scratchSlots()][CHUNK];
    shadows = new Shadow[symbols.bufferSlots()];
  }

  /** The same values and memory for a process of its own. */
  public Frame copyFor(FlowParty other, Symbols symbols, String[] names) {
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

  @Override
  public long extent(Buffer buffer, int slot, int dimension) {
    return dimension == 0
        ? outer[slot]
        : shapes[slot] != null ? shapes[slot][dimension] : buffer.extent(dimension);
  }

  @Override
  public String who() {
    return thread != null ? thread.toString() : process != null ? process.name() : "";
  }
}
