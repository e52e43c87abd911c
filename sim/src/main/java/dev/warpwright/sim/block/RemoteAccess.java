package dev.warpwright.sim.block;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.memory.Actor;
import dev.warpwright.sim.memory.Clock;
import dev.warpwright.sim.memory.Shadow;

/**
 * What a thread does in another block of its cluster. That block's shared memory is gone when it
 * ends (CUDA C++ Programming Guide, <em>Distributed Shared Memory</em>), so that the end is like a
 * write to all of it: something must order the access before, whichever of the two the executed
 * schedule had first. A relaxed barrier of the cluster orders nothing (PTX ISA, {@code
 * barrier.cluster}), nor does an arrival elsewhere, whose release is of its block's scope (PTX ISA,
 * {@code mbarrier.arrive}).
 *
 * @param what it is
 * @param by the thread
 * @param epoch at whose end it has happened
 * @param lane whose epoch that is, or {@link Shadow#WHOLE_WARP}
 * @param target the barrier or buffer, for messages
 * @param where the statement
 */
record RemoteAccess(What what, Frame by, long epoch, byte lane, String target, Stmt where) {
  /** Kinds of accesses, and what orders them before the block's end. */
  enum What {
    ELEMENT(
        "access",
        "end behind cluster.sync or cluster.meet; cluster.sync.relaxed orders no accesses"),
    ARRIVAL(
        "arrival",
        "wait there for the phase that it completes, or end behind cluster.sync or cluster.meet;"
            + " cluster.sync.relaxed orders no arrivals"),
    COPY(
        "copy",
        "wait there for the phase that its bytes complete; barriers of the cluster order no copies");

    private final String text;
    private final String advice;

    What(String text, String advice) {
      this.text = text;
      this.advice = advice;
    }
  }

  /** What a thread does itself: all of it has happened for whoever its warp has released it to. */
  static RemoteAccess ofThread(What what, Frame f, Actor actor, String target, Stmt where) {
    return new RemoteAccess(what, f, actor.epoch(), f.warpLane, target, where);
  }

  /** Whether it has happened, as far as a clock knows. */
  boolean isKnownTo(Clock clock) {
    return clock.knows(epoch, lane);
  }

  /** The finding that the block may have ended before, or has in this execution. */
  SimulationError unordered(Context context, BlockRun block) {
    return context.fault(
        Finding.Kind.BARRIER,
        where,
        by,
        target,
        "block "
            + block
            + (block.ended() ? " has ended" : " may end")
            + " before this "
            + what.text
            + " from another block of its cluster, which nothing orders before that end: "
            + what.advice);
  }
}
