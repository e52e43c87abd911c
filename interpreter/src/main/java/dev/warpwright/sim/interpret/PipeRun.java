package dev.warpwright.sim.interpret;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.finding.FindingSink;
import dev.warpwright.sim.interpret.RoleProcess.Open;
import dev.warpwright.sim.interpret.RoleProcess.Wait;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.FlowClock;
import dev.warpwright.sim.memory.Shadow;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A pipe in an execution: a ring of stages, each empty, being filled, or full. A stage's content is
 * poisoned when it is released, so that what still reads it is found.
 */
final class PipeRun {
  /** A place of the ring, and the number of the stage that is there or comes next. */
  private final class Slot {
    final byte[][] memory = new byte[pipe.buffers().size()][];
    final @Nullable Shadow[] shadows = new Shadow[memory.length];
    long version;
    boolean full;
    boolean taken;
    int releases;
    FlowClock clock = FlowClock.ALONE;

    Slot(int version) {
      this.version = version;
      for (int i = 0; i < memory.length; i++) {
        Buffer buffer = pipe.buffers().get(i);
        DType stored = context.stored(buffer.dtype());
        int elements = Math.toIntExact(buffer.storageElements());
        memory[i] = new byte[Math.multiplyExact(elements, stored.bytes())];
        if (context.track()) {
          shadows[i] = context.shadow(buffer, elements, true, false, FindingSink.THROWING);
          shadows[i].betweenRoles(elements);
        }
      }
      empty();
    }

    /** Forgets what was there. */
    final void empty() {
      full = false;
      taken = false;
      releases = 0;
      for (int i = 0; i < memory.length; i++) {
        Bytes.poison(context.stored(pipe.buffers().get(i).dtype()), memory[i]);
        Shadow shadow = shadows[i];
        if (shadow != null) {
          shadow.reset();
        }
      }
    }
  }

  /** Where a process is. */
  private static final class Cursor {
    long produced;
    long consumed;
  }

  private final Context context;
  private final Pipe pipe;
  private final int readers;
  private final boolean late;
  private final List<Slot> slots = new ArrayList<>();
  private final Map<RoleProcess, Cursor> cursors = new IdentityHashMap<>();
  private long firstProduced;
  private long firstConsumed;
  private long commits;
  private long consumes;

  /**
   * An execution.
   *
   * @param readers how often a stage is released
   * @param late whether stages are committed as late as the pipe allows
   */
  PipeRun(Context context, Pipe pipe, int readers, boolean late) {
    this.context = context;
    this.pipe = pipe;
    this.readers = readers;
    this.late = late;
    for (int i = 0; i < pipe.stages(); i++) {
      slots.add(new Slot(i));
      slots.get(i).full = i < pipe.options().initial();
    }
    firstProduced = pipe.options().initial();
    commits = firstProduced;
  }

  private Cursor cursor(RoleProcess process) {
    return cursors.computeIfAbsent(
        process,
        p -> {
          Cursor cursor = new Cursor();
          cursor.produced = firstProduced;
          cursor.consumed = firstConsumed;
          return cursor;
        });
  }

  private Slot slot(long version) {
    return slots.get((int) (version % slots.size()));
  }

  private String state() {
    return String.format(
        Locale.ROOT,
        "(%d of %d stages full, %d filled and %d read so far)",
        slots.stream().filter(s -> s.full).count(),
        slots.size(),
        commits,
        consumes / readers);
  }

  void produce(Frame f, RoleProcess process, Stmt where, Exec body) {
    Cursor cursor = cursor(process);
    long version = cursor.produced++;
    Slot slot = slot(version);
    process.await(
        new Wait(
            where,
            () -> slot.version == version && !slot.full && !slot.taken,
            () -> "an empty stage of '" + pipe.name() + "' " + state()),
        context,
        f);
    slot.taken = true;
    process.clock.join(slot.clock);
    Open stage = new Open(this, true, false, version);
    within(f, process, stage, slot, body);
    process.ended(f, stage, late ? pipe.options().lag() : 0);
    process.pause(where);
  }

  /** A stage that was filled is committed, or one that was read is released. */
  void settled(RoleProcess process, Open stage) {
    Slot slot = slot(stage.version);
    slot.clock = process.clock.released(slot.clock);
    if (stage.produce) {
      slot.taken = false;
      slot.full = true;
      commits++;
    } else if (++slot.releases == readers) {
      slot.version += slots.size();
      slot.empty();
    }
  }

  void consume(Frame f, RoleProcess process, Stmt where, boolean peek, Exec body) {
    Cursor cursor = cursor(process);
    long version = cursor.consumed;
    Slot slot = slot(version);
    // Its own copies it can wait for.
    process.commit(f, this, version);
    process.await(
        new Wait(
            where,
            () -> slot.version > version || slot.full && slot.version == version,
            () -> "a full stage of '" + pipe.name() + "' " + state()),
        context,
        f);
    if (slot.version > version || slot.taken && !pipe.isBroadcast()) {
      throw context.fault(
          Finding.Kind.PIPE,
          where,
          f,
          "",
          String.format(
              Locale.ROOT, "stage %d of '%s' was read by another instance", version, pipe.name()));
    }
    process.clock.join(slot.clock);
    if (!peek) {
      slot.taken = true;
      cursor.consumed++;
    }
    Open stage = new Open(this, false, peek, version);
    within(f, process, stage, slot, body);
    if (!peek) {
      consumes++;
      process.ended(f, stage, pipe.options().hold());
      process.pause(where);
    }
  }

  /** The next stages are another instance's. */
  void skip(RoleProcess process, boolean produces, long count) {
    Cursor cursor = cursor(process);
    if (produces) {
      cursor.produced += count;
    } else {
      cursor.consumed += count;
    }
  }

  private void within(Frame f, RoleProcess process, Open open, Slot slot, Exec body) {
    int n = slot.memory.length;
    byte[][] memory = new byte[n][];
    @Nullable Shadow[] shadows = new Shadow[n];
    for (int i = 0; i < n; i++) {
      Buffer buffer = pipe.buffers().get(i);
      int at = context.symbols().slot(buffer);
      memory[i] = f.memory[at];
      shadows[i] = f.shadows[at];
      f.memory[at] = slot.memory[i];
      f.shadows[at] = slot.shadows[i];
      f.outer[at] = buffer.rank() == 0 ? 1 : buffer.extent(0);
    }
    process.open.push(open);
    body.run(f);
    process.open.pop();
    for (int i = 0; i < n; i++) {
      int at = context.symbols().slot(pipe.buffers().get(i));
      f.memory[at] = memory[i];
      f.shadows[at] = shadows[i];
    }
  }

  /** Accesses to a stage are checked again as what its place holds now. */
  void shadow(Frame f, long version) {
    Slot slot = slot(version);
    for (int i = 0; i < slot.shadows.length; i++) {
      f.shadows[context.symbols().slot(pipe.buffers().get(i))] = slot.shadows[i];
    }
  }

  /** The roles have ended; others may go on with the pipe. */
  void settle() {
    for (Cursor cursor : cursors.values()) {
      firstProduced = Math.max(firstProduced, cursor.produced);
      firstConsumed = Math.max(firstConsumed, cursor.consumed);
    }
    cursors.clear();
  }

  /** As many stages were read as filled, but for those that were full at first. */
  void checkEmpty(Frame f, Stmt where) {
    long left = slots.stream().filter(s -> s.full).count();
    if (left > pipe.options().initial()) {
      throw context.fault(
          Finding.Kind.PIPE,
          where,
          f,
          "",
          String.format(
              Locale.ROOT,
              "'%s' ends with %d full stages: %d were filled, %d read%s",
              pipe.name(),
              left,
              commits - pipe.options().initial(),
              consumes,
              readers == 1 ? "" : " by " + readers + " instances together"));
    }
  }
}
