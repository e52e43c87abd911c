package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What is known of each element of one buffer's storage: whether it was written, and by whom it was
 * last written and read, as epochs (see {@link Agents}). Two accesses to an element, one of them a
 * write, race if neither knew the other to have happened, or if they are of two lanes of one warp
 * that have not met in between: no order of lanes is promised, not even within a statement.
 */
final class Shadow {
  private static final byte NEVER_WRITTEN = 0;
  private static final byte WRITTEN = 1;
  private static final byte UNDER_WAY = 2;

  /** A register that a product reads, which no thread may touch until it has been waited for. */
  private static final byte HELD = 3;

  /** Instead of a lane: several of a warp, or a warp as a whole. */
  static final byte WHOLE_WARP = -1;

  /** Buffers of fewer elements get their arrays at once. */
  private static final int LARGE = 1024;

  private static final byte[] NONE = {};

  private final Context context;
  private final Buffer buffer;
  private final int elements;
  private final boolean initialisation;
  private final boolean races;

  /**
   * Whether there are arrays. Blocks that find nothing to do never access most of what they have,
   * which is ten times as large as the memory itself.
   */
  private boolean ready;

  private byte @Nullable [] states;
  private long @Nullable [] writers;
  private long @Nullable [] readers;

  /** Of the last writer, its lane. */
  private byte[] writerLanes = NONE;

  /** Of the last readers, if they are one warp's, the lane. */
  private byte[] readerLanes = NONE;

  private final FindingSink sink;
  private final Actor.@Nullable Fence fence;
  private final EpochSets sets = new EpochSets();
  private @Nullable FlowRaces flow;

  /** Who counts as the last writer of all elements at first; 0 if no one. */
  private long firstWriter;

  /** Whether threads accessed it since this was last set to false. */
  boolean touched = true;

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
    this.elements = elements;
    this.initialisation = initialisation;
    this.races = races;
    this.sink = sink;
    this.fence =
        buffer.scope() == Scope.SHARED
            ? Actor.Fence.SHARED
            : buffer.scope() == Scope.GLOBAL ? Actor.Fence.GLOBAL : null;
    if (elements < LARGE) {
      prepare();
    }
  }

  /** Makes the arrays at the first access. */
  private void prepare() {
    if (ready) {
      return;
    }
    ready = true;
    states = initialisation ? new byte[elements] : null;
    if (races) {
      writers = new long[elements];
      Arrays.fill(writers, firstWriter);
      readers = new long[elements];
      writerLanes = new byte[elements];
      readerLanes = new byte[elements];
    }
  }

  /** Lets all elements be written by the launches before, whoever has not waited for them. */
  void dependsOnPrevious() {
    firstWriter = Agents.previous();
    if (writers != null) {
      Arrays.fill(writers, firstWriter);
    }
  }

  /** Looks for races of the roles of a tile program, too. */
  void betweenRoles(int elements) {
    flow = new FlowRaces(elements);
  }

  private void roleRace(Frame f, int element, Stmt where, int other, String mine, String theirs) {
    RoleProcess process = f.process;
    if (other >= 0 && process != null) {
      sink.report(
          fault(
              Finding.Kind.RACE,
              f,
              element,
              where,
              mine
                  + " by "
                  + process.name()
                  + " and "
                  + theirs
                  + " by "
                  + f.processes[other]
                  + " with no pipe or signal in between"));
    }
  }

  /**
   * Forgets what was written, as at the start of the buffer's life; not what products do with the
   * registers, which goes on.
   */
  void reset() {
    touched = true;
    if (states == null) {
      return;
    }
    if (buffer.scope() != Scope.LOCAL) {
      Arrays.fill(states, NEVER_WRITTEN);
      return;
    }
    for (int e = 0; e < states.length; e++) {
      if (states[e] == WRITTEN) {
        states[e] = NEVER_WRITTEN;
      }
    }
  }

  void read(Frame f, int element, Stmt where) {
    prepare();
    touched = true;
    if (states != null && states[element] != WRITTEN) {
      unwritten(f, element, where);
      return;
    }
    if (flow != null && f.process != null && f.processes.length > 0) {
      int other = flow.read(f.process.clock, f.processes.length, element);
      roleRace(f, element, where, other, "read", "write");
    }
    Actor actor = f.actor;
    if (writers == null || readers == null || actor == null) {
      return;
    }
    checkRead(f, actor, element, where, writers[element], f.warpLane);
    long mine = actor.readEpoch();
    long last = readers[element];
    if (last != mine) {
      readers[element] = withReader(last, readerLanes[element], mine, actor, f.warpLane);
      readerLanes[element] = lanesWith(last, actor, element, f.warpLane);
    } else if (readerLanes[element] != f.warpLane) {
      readerLanes[element] = WHOLE_WARP;
    }
  }

  /** The lane that has read an element, with one more. */
  private byte lanesWith(long last, Actor actor, int element, byte lane) {
    return actor.readSinceMeeting(last) && readerLanes[element] != lane ? WHOLE_WARP : lane;
  }

  /** Whether whoever wrote the element last had done so. */
  private void checkRead(Frame f, Actor actor, int element, Stmt where, long writer, byte lane) {
    if (actor.wroteSinceMeeting(writer)) {
      byte theirs = writerLanes[element];
      if (lane != WHOLE_WARP && theirs != lane && !actor.knows(writer, theirs, lane)) {
        laneRace(f, actor, element, where, theirs, "read", "write");
      }
    } else if (!actor.knows(writer, writerLanes[element], lane)) {
      race(f, actor, element, where, writer, "read", "write");
    }
  }

  /** Reads neighbouring elements. */
  void read(Frame f, int from, int count, Stmt where) {
    prepare();
    Actor actor = f.actor;
    if (writers == null || readers == null || actor == null) {
      for (int e = from; e < from + count; e++) {
        read(f, e, where);
      }
      return;
    }
    touched = true;
    long mine = actor.readEpoch();
    long goodWriter = 0;
    long knownReaders = 0;
    long newReaders = mine;
    for (int e = from; e < from + count; e++) {
      if (states != null && states[e] != WRITTEN) {
        unwritten(f, e, where);
        continue;
      }
      long writer = writers[e];
      if (writer != goodWriter || actor.wroteSinceMeeting(writer)) {
        checkRead(f, actor, e, where, writer, f.warpLane);
        goodWriter = actor.knows(writer) ? writer : 0;
      }
      long last = readers[e];
      if (last != mine) {
        if (last != knownReaders) {
          newReaders = withReader(last, readerLanes[e], mine, actor, f.warpLane);
          knownReaders = forAllLanes(last, actor);
        }
        readers[e] = newReaders;
        readerLanes[e] = lanesWith(last, actor, e, f.warpLane);
      } else if (readerLanes[e] != f.warpLane) {
        readerLanes[e] = WHOLE_WARP;
      }
    }
  }

  /**
   * Writes neighbouring elements of a buffer that only one thread has.
   *
   * @return whether that is all; if not, nothing is written, and each has to be looked at
   */
  boolean writeOwn(int from, int count) {
    prepare();
    if (states == null || writers != null) {
      return false;
    }
    for (int e = from; e < from + count; e++) {
      if (states[e] == UNDER_WAY || states[e] == HELD) {
        return false;
      }
    }
    touched = true;
    Arrays.fill(states, from, from + count, WRITTEN);
    return true;
  }

  /** The readers with one more; those that its lane knows to be over need not be kept. */
  private long withReader(long last, byte lastLane, long mine, Actor actor, byte lane) {
    boolean over =
        last == 0
            || (last > 0 && (actor.readSinceMeeting(last) || actor.knows(last, lastLane, lane)));
    return over ? mine : sets.plus(last, mine, actor);
  }

  /** Readers of whom the same holds whichever lanes they are; else one that no element has. */
  private static long forAllLanes(long readers, Actor actor) {
    return readers < 0 || actor.knows(readers) ? readers : Long.MIN_VALUE;
  }

  void write(Frame f, int element, Stmt where) {
    prepare();
    touched = true;
    if (states != null) {
      if (states[element] == UNDER_WAY || states[element] == HELD) {
        unwritten(f, element, where);
      }
      states[element] = WRITTEN;
    }
    recordWrite(f, element, where);
  }

  /** A copy that was under way writes the element. */
  void complete(Frame f, int element, Stmt where) {
    prepare();
    touched = true;
    if (states != null) {
      states[element] = WRITTEN;
    }
    recordWrite(f, element, where);
  }

  private void recordWrite(Frame f, int element, Stmt where) {
    if (flow != null && f.process != null && f.processes.length > 0) {
      int other = flow.write(f.process.clock, element);
      roleRace(f, element, where, other, "write", "access");
    }
    Actor actor = f.actor;
    if (writers == null || readers == null || actor == null) {
      return;
    }
    if (fence != null) {
      actor.wrote(fence, f.laneBit);
    }
    long mine = actor.epoch();
    byte lane = f.warpLane;
    long last = readers[element];
    if (writers[element] != mine
        || writerLanes[element] != lane
        || (last != 0 && (last != actor.readEpoch() || readerLanes[element] != lane))) {
      checkWrite(f, actor, element, where);
      writers[element] = mine;
      writerLanes[element] = lane;
    }
    readers[element] = 0;
  }

  /** Whether those who accessed the element last had done so before the thread writes it. */
  private void checkWrite(Frame f, Actor actor, int element, Stmt where) {
    if (writers == null || readers == null) {
      return;
    }
    long writer = writers[element];
    long last = readers[element];
    byte lane = f.warpLane;
    if (actor.wroteSinceMeeting(writer)) {
      if (writerLanes[element] != lane && !actor.knows(writer, writerLanes[element], lane)) {
        laneRace(f, actor, element, where, writerLanes[element], "write", "write");
        return;
      }
    } else if (!actor.knows(writer, writerLanes[element], lane)) {
      race(f, actor, element, where, writer, "write", "write");
      return;
    }
    if (actor.readSinceMeeting(last)) {
      if (readerLanes[element] != lane && !actor.knows(last, readerLanes[element], lane)) {
        laneRace(f, actor, element, where, readerLanes[element], "write", "read");
      }
    } else if (last >= 0) {
      if (!actor.knows(last, readerLanes[element], lane)) {
        race(f, actor, element, where, last, "write", "read");
      }
    } else {
      for (long reader : sets.members(last)) {
        if (!actor.readSinceMeeting(reader) && !actor.knows(reader, WHOLE_WARP, lane)) {
          race(f, actor, element, where, reader, "write", "read");
          return;
        }
      }
    }
  }

  /** An asynchronous copy to the element is under way: it counts as written once it is complete. */
  void beginWrite(Frame f, int element, Stmt where) {
    write(f, element, where);
    if (states != null) {
      states[element] = UNDER_WAY;
    }
  }

  /**
   * A unit beside the threads reads elements. What a thread wrote must have been fenced for it.
   *
   * @param f the thread that starts it, after which it happens
   * @param epoch whose end says that it has read
   * @param lane of the thread, or that its whole warp starts it
   */
  void unitReads(Frame f, Actor actor, long epoch, int from, int count, Stmt where, byte lane) {
    prepare();
    for (int e = from; e < from + count; e++) {
      if (states != null && states[e] != WRITTEN) {
        unwritten(f, e, where);
        return;
      }
    }
    if (writers == null || readers == null || fence == null) {
      return;
    }
    long goodWriter = 0;
    long knownReaders = 0;
    long newReaders = epoch;
    for (int e = from; e < from + count; e++) {
      long writer = writers[e];
      if (writer != goodWriter || actor.wroteSinceMeeting(writer)) {
        checkRead(f, actor, e, where, writer, lane);
        boolean before =
            actor.wroteSinceMeeting(writer) || actor.knows(writer, writerLanes[e], lane);
        if (before && !actor.knowsFenced(lane, writer, fence) && sink.wants(where)) {
          sink.report(fault(Finding.Kind.PROXY, f, e, where, unfenced(actor, writer)));
        }
        goodWriter = actor.knows(writer) ? writer : 0;
      }
      if (readers[e] != epoch) {
        if (readers[e] != knownReaders) {
          newReaders = withReader(readers[e], readerLanes[e], epoch, actor, lane);
          knownReaders = forAllLanes(readers[e], actor);
        }
        readers[e] = newReaders;
      }
    }
  }

  private String unfenced(Actor actor, long writer) {
    return "written by "
        + actor.agents.name(Agents.agent(writer), actor.block)
        + (fence == Actor.Fence.GLOBAL
            ? " without fence.proxy.async.global on the way to"
            : ", which did not execute fence.proxy.async before it is read by")
        + " a bulk copy or product";
  }

  /** A unit beside the threads begins to write elements; see {@link #unitReads}. */
  void unitWrites(Frame f, Actor actor, long epoch, int from, int count, Stmt where) {
    prepare();
    if (states != null) {
      Arrays.fill(states, from, from + count, UNDER_WAY);
    }
    if (writers == null || readers == null) {
      return;
    }
    long goodWriter = 0;
    long goodReaders = 0;
    for (int e = from; e < from + count; e++) {
      if (writers[e] != goodWriter
          || readers[e] != goodReaders
          || actor.wroteSinceMeeting(goodWriter)
          || actor.readSinceMeeting(goodReaders)) {
        checkWrite(f, actor, e, where);
        goodWriter = actor.knows(writers[e]) ? writers[e] : 0;
        goodReaders = forAllLanes(readers[e], actor);
      }
    }
    Arrays.fill(writers, from, from + count, epoch);
    Arrays.fill(readers, from, from + count, 0);
  }

  /** What was under way has been written, if it still is, and what products read has been read. */
  void arrived(int from, int count) {
    if (states != null) {
      for (int e = from; e < from + count; e++) {
        if (states[e] == UNDER_WAY || states[e] == HELD) {
          states[e] = WRITTEN;
        }
      }
    }
  }

  /** Registers that a product begins to read, as its first operand. */
  void productReads(Frame f, int from, int count, Stmt where) {
    prepare();
    if (states == null) {
      return;
    }
    for (int e = from; e < from + count; e++) {
      if (states[e] == NEVER_WRITTEN || states[e] == UNDER_WAY) {
        unwritten(f, e, where);
      }
    }
    Arrays.fill(states, from, from + count, HELD);
  }

  /** Registers that a product begins to write, and before that reads if it adds to them. */
  void productWrites(Frame f, int from, int count, boolean reads, Stmt where) {
    prepare();
    if (states != null) {
      for (int e = from; e < from + count; e++) {
        if (states[e] == HELD || (reads && states[e] == NEVER_WRITTEN)) {
          unwritten(f, e, where);
        }
      }
      Arrays.fill(states, from, from + count, UNDER_WAY);
    }
  }

  /** An access to an element that was never written, or not yet, or is still read. */
  private void unwritten(Frame f, int element, Stmt where) {
    if (states != null && states[element] == NEVER_WRITTEN) {
      throw fault(Finding.Kind.UNINITIALISED, f, element, where, "");
    }
    if (sink.wants(where)) {
      sink.report(
          fault(
              Finding.Kind.RACE,
              f,
              element,
              where,
              states != null && states[element] == HELD
                  ? "a product that reads it has not been waited for"
                  : fence == null
                      ? "a product that writes it has not been waited for"
                      : "an asynchronous copy to it has not been waited for"));
    }
  }

  private void race(
      Frame f, Actor actor, int element, Stmt where, long other, String mine, String theirs) {
    if (!sink.wants(where)) {
      return;
    }
    sink.report(
        fault(
            Finding.Kind.RACE,
            f,
            element,
            where,
            mine
                + " by "
                + actor.name()
                + " and "
                + theirs
                + " by "
                + actor.agents.name(other, actor.block)
                + (actor.agents.isPrevious(other)
                    ? " without griddepcontrol.wait between them"
                    : " without a barrier between them")));
  }

  /** Two lanes of one warp, the other of which may be several. */
  private void laneRace(
      Frame f, Actor actor, int element, Stmt where, byte other, String mine, String theirs) {
    if (!sink.wants(where)) {
      return;
    }
    sink.report(
        fault(
            Finding.Kind.RACE,
            f,
            element,
            where,
            mine
                + " by lane "
                + f.warpLane
                + " of "
                + actor.name()
                + " and "
                + theirs
                + (other == WHOLE_WARP ? " by other lanes" : " by lane " + other)
                + " of it without sync_warp or a barrier between them"));
  }

  private SimulationError fault(
      Finding.Kind kind, Frame f, int element, Stmt where, String detail) {
    return context.fault(kind, where, f, element(f, element), detail);
  }

  /** The element at an offset, as coordinates. */
  private String element(Frame f, int offset) {
    long[] shape = context.shape(buffer, f);
    if (buffer.layout() == null) {
      return Context.element(buffer, coordinates(shape, offset));
    }
    // Layouts are not inverted: there are few elements, and this is for one message.
    for (long i = 0; i < buffer.storageElements(); i++) {
      long[] at = coordinates(shape, i);
      if (at[0] < shape[0] && buffer.layout().offset(at) == offset) {
        return Context.element(buffer, at);
      }
    }
    return buffer.name() + "[offset " + offset + "]";
  }

  /** Of an element by its number, row-major. */
  private static long[] coordinates(long[] shape, long number) {
    long[] at = new long[shape.length];
    long rest = number;
    for (int d = shape.length - 1; d >= 0; d--) {
      at[d] = d == 0 ? rest : rest % shape[d];
      rest /= Math.max(shape[d], 1);
    }
    return at;
  }
}
