package dev.warpwright.sim.block;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.memory.Actor;
import dev.warpwright.sim.memory.Clock;
import dev.warpwright.sim.memory.Shadow;
import java.util.ArrayList;
import java.util.List;

/**
 * A barrier object in shared memory. A phase ends when all arrivals and all bytes of it are in. Its
 * agent's ticks are the phases that have ended: TMA copies of a phase have happened for those who
 * have seen its end.
 */
public final class MBarrier {
  private static final long MAX_BYTES = (1 << 20) - 1;

  final BlockRun block;
  public final int agent;

  private final Context context;
  private final String name;
  private final Clock arrived = new Clock();

  /** What those knew who arrived in phases that are over. */
  private final Clock over = new Clock();

  private long made;
  private byte madeBy;

  /** When a fence published it; 0 before. */
  private long published;

  private long expected;
  private long pending;
  private long bytes;
  private int phase;

  /** Greatest number of ended phases that some wait has seen. */
  private int seen;

  /** What other blocks have done here in the last phase in which any did something. */
  private final List<RemoteAccess> remote = new ArrayList<>(0);

  /** That phase. Who knows its end knows the end of all before it. */
  private int remotePhase;

  public MBarrier(Context context, BlockRun block, String name) {
    this.context = context;
    this.block = block;
    this.name = name;
    this.agent = block.agents().add(block, "a TMA copy to " + name);
  }

  @Override
  public String toString() {
    return name;
  }

  public void init(Frame f, Actor actor, long arrivals, Stmt where) {
    if (made != 0) {
      throw misuse(f, where, "it is in use already");
    }
    if (arrivals < 1 || arrivals > MAX_BYTES) {
      throw misuse(f, where, "cannot be made for " + arrivals + " arrivals");
    }
    made = actor.epoch();
    madeBy = f.warpLane;
    expected = arrivals;
    pending = arrivals;
    block.unpublished.add(this);
  }

  /** The fence after which other blocks and TMA copies see the new barrier. */
  public void publish(long epoch) {
    published = epoch;
  }

  /** Checks that the barrier was made before, as far as the actor knows. */
  public void requireMade(Frame f, Actor actor, Stmt where, boolean fromElsewhere) {
    if (made == 0) {
      throw misuse(f, where, "it was never made by mbarrier.init");
    }
    if (!actor.knows(made, madeBy, f.warpLane)
        && (published == 0 || !actor.knows(published, Shadow.WHOLE_WARP, f.warpLane))) {
      throw misuse(f, where, "no barrier between its mbarrier.init and this");
    }
    if (fromElsewhere && published == 0) {
      throw misuse(f, where, "no fence.mbarrier_init after its mbarrier.init");
    }
  }

  /**
   * One arrival.
   *
   * @param more bytes that copies will deliver in this phase
   */
  public void arrive(Frame f, Actor actor, long more, Stmt where) {
    boolean fromElsewhere = actor.block != block;
    requireMade(f, actor, where, fromElsewhere);
    if (fromElsewhere) {
      reached(RemoteAccess.ofThread(RemoteAccess.What.ARRIVAL, f, actor, name, where));
    }
    if (seen < phase) {
      throw misuse(
          f, where, "arrives again though no one has waited for the end of phase " + (phase - 1));
    }
    if (pending == 0) {
      throw misuse(f, where, "more than " + expected + " arrivals in phase " + phase);
    }
    if (fromElsewhere) {
      actor.releaseWaitedFor(f.warpLane, arrived);
    } else {
      actor.release(f.warpLane, arrived);
    }
    if (more < 0 || bytes + more > MAX_BYTES) {
      throw misuse(f, where, "cannot expect " + (bytes + more) + " bytes in a phase");
    }
    bytes += more;
    pending--;
    endPhase();
  }

  /** Number of the phase that is not over yet. */
  public int phase() {
    return phase;
  }

  /**
   * A copy that another block has started, whose bytes belong to the phase under way.
   *
   * @param epoch at whose end they have arrived
   * @throws SimulationError if the barrier's block has ended
   */
  public void copiedTo(Frame f, long epoch, Stmt where) {
    reached(new RemoteAccess(RemoteAccess.What.COPY, f, epoch, Shadow.WHOLE_WARP, name, where));
  }

  /** Something from another block, which belongs to the phase under way. */
  private void reached(RemoteAccess access) {
    if (block.ended()) {
      throw access.unordered(context, block);
    }
    if (remotePhase != phase) {
      remotePhase = phase;
      remote.clear();
    }
    remote.add(access);
  }

  /**
   * Checks at the end of the barrier's block that all is over what others have done here: someone
   * has waited for the phase, or has learned of it otherwise.
   *
   * @param known to the block's threads
   * @throws SimulationError if something may not be over
   */
  void requireOver(Clock known) {
    if (remote.isEmpty() || seen > remotePhase) {
      return;
    }
    for (RemoteAccess access : remote) {
      if (!access.isKnownTo(known)) {
        throw access.unordered(context, block);
      }
    }
  }

  /** Bytes of a copy that was started in a phase. */
  void delivered(Frame f, long count, int startedIn, Stmt where) {
    if (startedIn != phase) {
      throw misuse(
          f,
          where,
          "a copy of "
              + count
              + " bytes that belongs to phase "
              + startedIn
              + " arrives in phase "
              + phase
              + ": the bytes expected are fewer than those copied");
    }
    bytes -= count;
    endPhase();
  }

  private void endPhase() {
    if (pending == 0 && bytes == 0) {
      phase++;
      over.join(arrived);
      pending = expected;
    }
  }

  /** Whether the phase of this parity is over. */
  public boolean isOver(long parity) {
    return (phase & 1) != parity;
  }

  /** Checks a wait before it begins. */
  public void requireInTime(Frame f, Actor actor, long parity, Stmt where) {
    requireMade(f, actor, where, false);
    if (parity != 0 && parity != 1) {
      throw misuse(f, where, "the parity is " + parity + ", not 0 or 1");
    }
    int known = actor.tickOf(f.warpLane, agent);
    if (phase >= known + 2 && parity == (known & 1)) {
      throw misuse(
          f,
          where,
          "waits for phase "
              + known
              + ", but phase "
              + phase
              + " is under way: parities repeat, so the wait comes too late");
    }
  }

  /** What a wait that is over lets a lane, or all of a warp, know. */
  public void acquire(Actor actor, byte lane) {
    actor.acquire(lane, over);
    actor.learn(lane, agent, phase);
    seen = Math.max(seen, phase);
  }

  /** What a phase still needs, for messages. */
  public String missing() {
    return name
        + ", whose phase "
        + phase
        + " lacks "
        + pending
        + " of "
        + expected
        + " arrivals"
        + (bytes == 0
            ? ""
            : bytes > 0 ? " and " + bytes + " bytes" : ", with " + -bytes + " bytes too many");
  }

  private SimulationError misuse(Frame f, Stmt where, String detail) {
    return context.fault(Finding.Kind.BARRIER, where, f, name, detail);
  }
}
