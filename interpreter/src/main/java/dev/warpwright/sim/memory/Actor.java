package dev.warpwright.sim.memory;

import org.jspecify.annotations.Nullable;

/**
 * A warp as one who accesses memory: what it knows to have happened, and how much of what it wrote
 * the asynchronous units see. Five agents: its accesses, those that are fenced for units that read
 * shared and global memory, its reads, and the barriers that it has published. Reads are apart
 * because where it is only known that they are over, a write may follow.
 */
public final class Actor {
  /** Kinds of memory whose ordinary writes need a fence before an asynchronous unit reads them. */
  public enum Fence {
    SHARED,
    GLOBAL
  }

  private static final int READS = 3;
  private static final int BARRIERS = 4;

  final Agents agents;
  public final BlockPlace block;

  /** What all of its lanes know: of the warp itself, what was before they last met. */
  public final Clock clock = new Clock();

  /** What single lanes have learned since then. */
  private final @Nullable Clock[] lanes = new Clock[32];

  /** Whether there is any of that. */
  private boolean apart;

  private final int agent;
  private final int[] unfenced = new int[Fence.values().length];
  private int tick;
  private int published;
  private long epoch;
  private long readEpoch;
  private long met;
  private long metReads;

  public Actor(Agents agents, BlockPlace block, String name) {
    this.agents = agents;
    this.block = block;
    this.agent = agents.addWarp(block, name);
    agents.addAspect(block, name + " (fenced)");
    agents.addAspect(block, name + " (fenced for global memory)");
    agents.addAspect(block, name);
    agents.addAspect(block, "a barrier made by " + name);
    meetLanes();
  }

  String name() {
    return agents.name(agent, block);
  }

  /** The epoch of accesses that the warp makes now. */
  public long epoch() {
    return epoch;
  }

  /** The epoch of reads that the warp makes now. */
  long readEpoch() {
    return readEpoch;
  }

  /** Lets a clock know that the warp's reads up to here are over, and nothing else. */
  public void releaseReads(Clock to) {
    to.learn(agent + READS, tick);
    nextTick();
  }

  /** An epoch of something else in the warp's cluster. */
  public long epoch(int other, int otherTick) {
    return Agents.epoch(block.cluster(), other, otherTick);
  }

  /** What the warp does from here on is not covered by what others learned before. */
  private void nextTick() {
    tick++;
    epoch = epoch(agent, tick);
    readEpoch = epoch(agent + READS, tick);
  }

  /** The warp's lanes have met: what one of them did or knew is known to the others from here. */
  public void meetLanes() {
    gather(clock);
    clock.learn(agent, tick);
    clock.learn(agent + READS, tick);
    nextTick();
    met = epoch;
    metReads = readEpoch;
  }

  /** What single lanes know joins a clock, and is theirs alone no more if that is the warp's. */
  private void gather(Clock to) {
    for (int lane = 0; apart && lane < lanes.length; lane++) {
      Clock own = lanes[lane];
      if (own != null) {
        to.join(own);
        if (to == clock) {
          lanes[lane] = null;
        }
      }
    }
    apart &= to != clock;
  }

  /** What a lane knows beyond the others, or all of them if it is the whole warp. */
  private Clock of(byte lane) {
    if (lane == Shadow.WHOLE_WARP) {
      return clock;
    }
    Clock own = lanes[lane];
    if (own == null) {
      own = new Clock();
      lanes[lane] = own;
      apart = true;
    }
    return own;
  }

  /** A lane, or the whole warp, learns that an agent has come to a tick. */
  public void learn(byte lane, int other, int otherTick) {
    if (clock.get(other) < otherTick) {
      of(lane).learn(other, otherTick);
    }
  }

  /** A lane, or the whole warp, learns what a clock knows. */
  public void acquire(byte lane, Clock from) {
    of(lane).join(from);
  }

  /** Up to where a lane knows an agent. */
  public int tickOf(byte lane, int other) {
    Clock own = lane == Shadow.WHOLE_WARP ? null : lanes[lane];
    return Math.max(clock.get(other), own == null ? 0 : own.get(other));
  }

  /** Lets a clock know all that any lane knows. */
  public void tell(Clock to) {
    to.join(clock);
    gather(to);
  }

  /** Whether an epoch of writes is this warp's own, and its lanes have not met since. */
  boolean wroteSinceMeeting(long other) {
    return other >= met && other <= epoch;
  }

  /** Whether an epoch of reads is this warp's own, and its lanes have not met since. */
  boolean readSinceMeeting(long other) {
    return other >= metReads && other <= readEpoch;
  }

  /** Lets a clock know all that a lane, or the whole warp, has done and knows. */
  public void release(byte lane, Clock to) {
    to.join(clock);
    joinOwn(lane, to);
    to.learn(agent, tick, lane);
    to.learn(agent + READS, tick, lane);
    nextTick();
  }

  /** Lets a clock know of what a lane has waited for and read, but not of what it wrote. */
  public void releaseWaitedFor(byte lane, Clock to) {
    Clock known = new Clock();
    known.join(clock);
    joinOwn(lane, known);
    to.joinWithout(known, agents.warps());
    to.learn(agent + READS, tick, lane);
    nextTick();
  }

  private void joinOwn(byte lane, Clock to) {
    if (lane == Shadow.WHOLE_WARP) {
      gather(to);
    } else {
      Clock own = lanes[lane];
      if (own != null) {
        to.join(own);
      }
    }
  }

  /** The epoch in which a lane publishes the barriers that the block's threads have made. */
  public long publishes(byte lane) {
    of(lane).learn(agent + BARRIERS, ++published);
    return epoch(agent + BARRIERS, published);
  }

  /** Whether the warp knows that another block has started: it met all of its warps. */
  public boolean knowsStart(byte lane, BlockPlace other) {
    for (Actor warp : other.actors()) {
      int reads = warp.agent + READS;
      Clock own = lanes[lane];
      if (!clock.hasHeardOf(reads) && (own == null || !own.hasHeardOf(reads))) {
        return false;
      }
    }
    return true;
  }

  /** Whether all of the warp knows that an epoch has happened, whichever lanes it is of. */
  public boolean knows(long other) {
    return other == 0
        || agents.comparable(other, epoch) && Agents.tick(other) <= clock.get(Agents.agent(other));
  }

  /**
   * Whether a lane knows that an epoch has happened.
   *
   * @param theirs of the epoch, if it is a warp's
   * @param lane of this warp; either may be {@link Shadow#WHOLE_WARP}
   */
  public boolean knows(long other, byte theirs, byte lane) {
    if (knows(other)) {
      return true;
    }
    if (!agents.comparable(other, epoch)) {
      return false;
    }
    int who = Agents.agent(other);
    int when = Agents.tick(other);
    boolean ownDoing = who == agent || who == agent + READS;
    if (clock.knows(who, when, theirs) || (ownDoing && theirs == lane)) {
      return true;
    }
    Clock own = lane == Shadow.WHOLE_WARP ? null : lanes[lane];
    return own != null && own.knows(who, when, theirs);
  }

  /** Whether ordinary accesses of this epoch have been fenced, as far as a lane knows. */
  boolean knowsFenced(byte lane, long other, Fence fence) {
    int writer = Agents.agent(other);
    return !agents.warps().get(writer)
        || Agents.tick(other) <= tickOf(lane, writer + 1 + fence.ordinal());
  }

  /** Lanes (a mask) have written without a fence. */
  void wrote(Fence fence, int mask) {
    unfenced[fence.ordinal()] |= mask;
  }

  /** Lanes (a mask) execute a fence: each makes only what it wrote itself visible. */
  public void fence(Fence fence, int mask) {
    unfenced[fence.ordinal()] &= ~mask;
    if (unfenced[fence.ordinal()] == 0) {
      clock.learn(agent + 1 + fence.ordinal(), tick);
    }
    if (fence == Fence.GLOBAL) {
      // What the lanes have acquired is fenced by them as well as by those who wrote it.
      fenceAcquired(fence, Shadow.WHOLE_WARP);
      for (byte lane = 0; apart && lane < lanes.length; lane++) {
        if (lanes[lane] != null && (1 << lane & mask) != 0) {
          fenceAcquired(fence, lane);
        }
      }
    }
    nextTick();
  }

  private void fenceAcquired(Fence fence, byte lane) {
    Clock own = of(lane);
    for (int w = agents.warps().nextSetBit(0); w >= 0; w = agents.warps().nextSetBit(w + 1)) {
      if (w != agent) {
        own.learn(w + 1 + fence.ordinal(), own.get(w));
      }
    }
  }
}
