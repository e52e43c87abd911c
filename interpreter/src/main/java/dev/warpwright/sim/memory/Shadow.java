package dev.warpwright.sim.memory;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.finding.FindingSink;
import dev.warpwright.sim.finding.Source;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What is known of each element of one buffer's storage: whether it was written, and by whom it was
 * last written and read, as epochs (see {@link Agents}). Two accesses to an element, one of them a
 * write, race if neither knew the other to have happened, or if they are of two lanes of one warp
 * that have not met in between: no order of lanes is promised, not even within a statement.
 */
public final class Shadow {
  static final byte NEVER_WRITTEN = 0;
  private static final byte WRITTEN = 1;
  private static final byte UNDER_WAY = 2;

  /** A register that a product reads, which no thread may touch until it has been waited for. */
  static final byte HELD = 3;

  /** Instead of a lane: several of a warp, or a warp as a whole. */
  public static final byte WHOLE_WARP = -1;

  /** Buffers of fewer elements get their arrays at once. */
  private static final int LARGE = 1024;

  private static final byte[] NONE = {};

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

  private final Actor.@Nullable Fence fence;
  private final ShadowReports reports;
  private final EpochSets sets = new EpochSets();
  private @Nullable FlowRaces flow;

  /** Who counts as the last writer of all elements at first; 0 if no one. */
  private long firstWriter;

  /** Whether threads accessed it since this was last set to false. */
  public boolean touched = true;

  /**
   * Knows nothing yet.
   *
   * @param source of what is executed
   * @param slot of the buffer
   * @param initialisation whether reads of what was never written are findings
   * @param races whether races of warps are findings
   */
  public Shadow(
      Source source,
      int slot,
      Buffer buffer,
      int elements,
      boolean initialisation,
      boolean races,
      FindingSink sink) {
    this.buffer = buffer;
    this.elements = elements;
    this.initialisation = initialisation;
    this.races = races;
    this.fence =
        buffer.scope() == Scope.SHARED
            ? Actor.Fence.SHARED
            : buffer.scope() == Scope.GLOBAL ? Actor.Fence.GLOBAL : null;
    this.reports = new ShadowReports(source, slot, buffer, fence, sink);
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
  public void dependsOnPrevious() {
    firstWriter = Agents.previous();
    if (writers != null) {
      Arrays.fill(writers, firstWriter);
    }
  }

  /** Looks for races of the roles of a tile program, too. */
  public void betweenRoles(int elements) {
    flow = new FlowRaces(elements);
  }

  /**
   * Forgets what was written, as at the start of the buffer's life; not what products do with the
   * registers, which goes on.
   */
  public void reset() {
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

  public void read(Accessor f, int element, Stmt where) {
    prepare();
    touched = true;
    if (states != null && states[element] != WRITTEN) {
      reports.unwritten(f, element, where, states[element]);
      return;
    }
    if (flow != null && f.process != null && f.processes.length > 0) {
      int other = flow.read(f.process.clock, f.processes.length, element);
      reports.roleRace(f, element, where, other, "read", "write");
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
  private void checkRead(Accessor f, Actor actor, int element, Stmt where, long writer, byte lane) {
    if (actor.wroteSinceMeeting(writer)) {
      byte theirs = writerLanes[element];
      if (lane != WHOLE_WARP && theirs != lane && !actor.knows(writer, theirs, lane)) {
        reports.laneRace(f, actor, element, where, theirs, "read", "write");
      }
    } else if (!actor.knows(writer, writerLanes[element], lane)) {
      reports.race(f, actor, element, where, writer, "read", "write");
    }
  }

  /** Reads neighbouring elements. */
  public void read(Accessor f, int from, int count, Stmt where) {
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
        reports.unwritten(f, e, where, states[e]);
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
  public boolean writeOwn(int from, int count) {
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

  public void write(Accessor f, int element, Stmt where) {
    prepare();
    touched = true;
    if (states != null) {
      if (states[element] == UNDER_WAY || states[element] == HELD) {
        reports.unwritten(f, element, where, states[element]);
      }
      states[element] = WRITTEN;
    }
    recordWrite(f, element, where);
  }

  /** A copy that was under way writes the element. */
  public void complete(Accessor f, int element, Stmt where) {
    prepare();
    touched = true;
    if (states != null) {
      states[element] = WRITTEN;
    }
    recordWrite(f, element, where);
  }

  private void recordWrite(Accessor f, int element, Stmt where) {
    if (flow != null && f.process != null && f.processes.length > 0) {
      int other = flow.write(f.process.clock, element);
      reports.roleRace(f, element, where, other, "write", "access");
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
  private void checkWrite(Accessor f, Actor actor, int element, Stmt where) {
    if (writers == null || readers == null) {
      return;
    }
    long writer = writers[element];
    long last = readers[element];
    byte lane = f.warpLane;
    if (actor.wroteSinceMeeting(writer)) {
      if (writerLanes[element] != lane && !actor.knows(writer, writerLanes[element], lane)) {
        reports.laneRace(f, actor, element, where, writerLanes[element], "write", "write");
        return;
      }
    } else if (!actor.knows(writer, writerLanes[element], lane)) {
      reports.race(f, actor, element, where, writer, "write", "write");
      return;
    }
    if (actor.readSinceMeeting(last)) {
      if (readerLanes[element] != lane && !actor.knows(last, readerLanes[element], lane)) {
        reports.laneRace(f, actor, element, where, readerLanes[element], "write", "read");
      }
    } else if (last >= 0) {
      if (!actor.knows(last, readerLanes[element], lane)) {
        reports.race(f, actor, element, where, last, "write", "read");
      }
    } else {
      for (long reader : sets.members(last)) {
        if (!actor.readSinceMeeting(reader) && !actor.knows(reader, WHOLE_WARP, lane)) {
          reports.race(f, actor, element, where, reader, "write", "read");
          return;
        }
      }
    }
  }

  /** An asynchronous copy to the element is under way: it counts as written once it is complete. */
  public void beginWrite(Accessor f, int element, Stmt where) {
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
  public void unitReads(
      Accessor f, Actor actor, long epoch, int from, int count, Stmt where, byte lane) {
    prepare();
    for (int e = from; e < from + count; e++) {
      if (states != null && states[e] != WRITTEN) {
        reports.unwritten(f, e, where, states[e]);
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
        if (before && !actor.knowsFenced(lane, writer, fence)) {
          reports.unfenced(f, actor, e, where, writer);
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

  /** A unit beside the threads begins to write elements; see {@link #unitReads}. */
  public void unitWrites(Accessor f, Actor actor, long epoch, int from, int count, Stmt where) {
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
  public void arrived(int from, int count) {
    if (states != null) {
      for (int e = from; e < from + count; e++) {
        if (states[e] == UNDER_WAY || states[e] == HELD) {
          states[e] = WRITTEN;
        }
      }
    }
  }

  /** Registers that a product begins to read, as its first operand. */
  public void mmaReads(Accessor f, int from, int count, Stmt where) {
    prepare();
    if (states == null) {
      return;
    }
    for (int e = from; e < from + count; e++) {
      if (states[e] == NEVER_WRITTEN || states[e] == UNDER_WAY) {
        reports.unwritten(f, e, where, states[e]);
      }
    }
    Arrays.fill(states, from, from + count, HELD);
  }

  /** Registers that a product begins to write, and before that reads if it adds to them. */
  public void mmaWrites(Accessor f, int from, int count, boolean reads, Stmt where) {
    prepare();
    if (states != null) {
      for (int e = from; e < from + count; e++) {
        if (states[e] == HELD || (reads && states[e] == NEVER_WRITTEN)) {
          reports.unwritten(f, e, where, states[e]);
        }
      }
      Arrays.fill(states, from, from + count, UNDER_WAY);
    }
  }
}
