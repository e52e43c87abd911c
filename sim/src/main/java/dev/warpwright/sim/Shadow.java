package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Stmt;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What is known of each element of one buffer's storage: whether it was written, and by whom it was
 * last written and read. A <em>stamp</em> is the block, the number of barriers that the block has
 * passed, and the warp. Two accesses to an element, one of them a write, race if no barrier
 * separates them: they are by different blocks, or in one interval by different warps of a block.
 * Hazards within a warp are not looked at.
 */
final class Shadow {
  private static final int WARP_BITS = 8;
  private static final int INTERVAL_BITS = 28;
  private static final long SEVERAL_WARPS = (1L << WARP_BITS) - 1;
  private static final long SEVERAL_BLOCKS = -1;

  private static final byte NEVER_WRITTEN = 0;
  private static final byte WRITTEN = 1;
  private static final byte UNDER_WAY = 2;

  private final Context context;
  private final Buffer buffer;
  private final byte @Nullable [] states;
  private final long @Nullable [] writers;
  private final long @Nullable [] readers;
  private final FindingSink sink;

  /** Where races go, which need not end the execution. */
  interface FindingSink {
    /** Whether another race at this statement says anything new. */
    boolean wants(Stmt where);

    void report(SimulationError error);
  }

  /** Throws everything. */
  static final FindingSink THROWING =
      new FindingSink() {
        @Override
        public boolean wants(Stmt where) {
          return true;
        }

        @Override
        public void report(SimulationError error) {
          throw error;
        }
      };

  Shadow(
      Context context,
      Buffer buffer,
      int elements,
      boolean initialisation,
      boolean races,
      FindingSink sink) {
    this.context = context;
    this.buffer = buffer;
    this.states = initialisation ? new byte[elements] : null;
    this.writers = races ? new long[elements] : null;
    this.readers = races ? new long[elements] : null;
    this.sink = sink;
  }

  /** The stamp of a warp; block and interval count from 0, warps are at most 64. */
  static long stamp(long block, long interval, int warp) {
    return ((block + 1) << (INTERVAL_BITS + WARP_BITS)) | (interval << WARP_BITS) | warp;
  }

  private static long interval(long stamp) {
    return stamp >>> WARP_BITS;
  }

  private static long block(long stamp) {
    return stamp >>> (INTERVAL_BITS + WARP_BITS);
  }

  /** Forgets what was written, as at the start of the buffer's life. */
  void reset() {
    if (states != null) {
      Arrays.fill(states, NEVER_WRITTEN);
    }
  }

  void read(Frame f, int element, Stmt where) {
    if (states != null && states[element] != WRITTEN) {
      if (states[element] == NEVER_WRITTEN) {
        throw fault(Finding.Kind.UNINITIALISED, f, element, where, "");
      }
      if (sink.wants(where)) {
        sink.report(
            fault(
                Finding.Kind.RACE,
                f,
                element,
                where,
                "an asynchronous copy to it has not been waited for"));
      }
      return;
    }
    if (writers == null || readers == null) {
      return;
    }
    long mine = f.stamp;
    if (conflicts(writers[element], mine)) {
      race(f, element, where, writers[element], "read", "write");
    }
    long last = readers[element];
    if (last != mine) {
      if (interval(last) == interval(mine)) {
        readers[element] = mine | SEVERAL_WARPS;
      } else {
        readers[element] = last == 0 || block(last) == block(mine) ? mine : SEVERAL_BLOCKS;
      }
    }
  }

  void write(Frame f, int element, Stmt where) {
    if (states != null) {
      states[element] = WRITTEN;
    }
    if (writers == null || readers == null) {
      return;
    }
    long mine = f.stamp;
    if (conflicts(writers[element], mine)) {
      race(f, element, where, writers[element], "write", "write");
    } else if (conflicts(readers[element], mine)) {
      race(f, element, where, readers[element], "write", "read");
    }
    writers[element] = mine;
  }

  /** An asynchronous copy to the element is under way: it counts as written once it is complete. */
  void beginWrite(Frame f, int element, Stmt where) {
    write(f, element, where);
    if (states != null) {
      states[element] = UNDER_WAY;
    }
  }

  private static boolean conflicts(long other, long mine) {
    return other != 0
        && other != mine
        && (block(other) != block(mine) || interval(other) == interval(mine));
  }

  private void race(Frame f, int element, Stmt where, long other, String mine, String theirs) {
    if (!sink.wants(where)) {
      return;
    }
    long warp = other & SEVERAL_WARPS;
    String whose =
        block(other) != block(f.stamp)
            ? "another block"
            : warp == SEVERAL_WARPS ? "several warps" : "warp " + warp;
    sink.report(
        fault(
            Finding.Kind.RACE,
            f,
            element,
            where,
            mine
                + " by warp "
                + (f.stamp & SEVERAL_WARPS)
                + " and "
                + theirs
                + " by "
                + whose
                + " without a barrier between them"));
  }

  private SimulationError fault(
      Finding.Kind kind, Frame f, int element, Stmt where, String detail) {
    return context.fault(kind, where, f, element(f, element), detail);
  }

  /** The element at an offset, as coordinates where the storage is row-major. */
  private String element(Frame f, int offset) {
    if (buffer.layout() != null) {
      return buffer.name() + "[offset " + offset + "]";
    }
    long[] shape = context.shape(buffer, f);
    long[] at = new long[shape.length];
    long rest = offset;
    for (int d = shape.length - 1; d >= 0; d--) {
      at[d] = d == 0 ? rest : rest % shape[d];
      rest /= Math.max(shape[d], 1);
    }
    return Context.element(buffer, at);
  }
}
