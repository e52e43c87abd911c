package dev.warpwright.sim.memory;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.finding.FindingSink;
import dev.warpwright.sim.finding.Source;
import org.jspecify.annotations.Nullable;

/** Says what is wrong with accesses to a buffer that a {@link Shadow} has found. */
final class ShadowReports {
  private final Source source;
  private final int slot;
  private final Buffer buffer;
  private final Actor.@Nullable Fence fence;
  private final FindingSink sink;

  ShadowReports(
      Source source, int slot, Buffer buffer, Actor.@Nullable Fence fence, FindingSink sink) {
    this.source = source;
    this.slot = slot;
    this.buffer = buffer;
    this.fence = fence;
    this.sink = sink;
  }

  /** Two processes of a tile program, if there is another one. */
  void roleRace(Accessor f, int element, Stmt where, int other, String mine, String theirs) {
    FlowParty process = f.process;
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

  /** A unit reads what a thread wrote and did not fence. */
  void unfenced(Accessor f, Actor actor, int element, Stmt where, long writer) {
    if (sink.wants(where)) {
      sink.report(fault(Finding.Kind.PROXY, f, element, where, unfenced(actor, writer)));
    }
  }

  private String unfenced(Actor actor, long writer) {
    return "written by "
        + actor.agents.name(Agents.agent(writer), actor.block)
        + (fence == Actor.Fence.GLOBAL
            ? " without fence.proxy.async.global on the way to"
            : ", which did not execute fence.proxy.async before it is read by")
        + " a TMA copy or wgmma";
  }

  /** An access to an element that was never written, or not yet, or is still read. */
  void unwritten(Accessor f, int element, Stmt where, byte state) {
    if (state == Shadow.NEVER_WRITTEN) {
      throw fault(Finding.Kind.UNINITIALISED, f, element, where, "");
    }
    if (sink.wants(where)) {
      sink.report(
          fault(
              Finding.Kind.RACE,
              f,
              element,
              where,
              state == Shadow.HELD
                  ? "an mma that reads it has not been waited for"
                  : fence == null
                      ? "an mma that writes it has not been waited for"
                      : "an asynchronous copy to it has not been waited for"));
    }
  }

  void race(
      Accessor f, Actor actor, int element, Stmt where, long other, String mine, String theirs) {
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
  void laneRace(
      Accessor f, Actor actor, int element, Stmt where, byte other, String mine, String theirs) {
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
                + (other == Shadow.WHOLE_WARP ? " by other lanes" : " by lane " + other)
                + " of it without sync_warp or a barrier between them"));
  }

  private SimulationError fault(
      Finding.Kind kind, Accessor f, int element, Stmt where, String detail) {
    return source.fault(kind, where, f.who(), element(f, element), detail);
  }

  /** The element at an offset, as coordinates. */
  private String element(Accessor f, int offset) {
    long[] shape = shape(f);
    if (buffer.layout() == null) {
      return Source.element(buffer, coordinates(shape, offset));
    }
    // Layouts are not inverted: there are few elements, and this is for one message.
    for (long i = 0; i < buffer.storageElements(); i++) {
      long[] at = coordinates(shape, i);
      if (at[0] < shape[0] && buffer.layout().offset(at) == offset) {
        return Source.element(buffer, at);
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

  private long[] shape(Accessor f) {
    long[] shape = new long[buffer.rank()];
    for (int d = 0; d < shape.length; d++) {
      shape[d] = f.extent(buffer, slot, d);
    }
    return shape;
  }
}
