package dev.warpwright.sim;

/**
 * A warp as one who accesses memory: what it knows to have happened, and how much of what it wrote
 * the asynchronous units see. Six agents: its accesses, those that are fenced for units that read
 * shared and global memory, what it does in other blocks, its reads, and the barriers that it has
 * published. Reads are apart because where it is only known that they are over, a write may follow.
 */
final class Actor {
  /** Kinds of memory whose ordinary writes need a fence before an asynchronous unit reads them. */
  enum Fence {
    SHARED,
    GLOBAL
  }

  private static final int REMOTE = 3;
  private static final int READS = 4;
  private static final int BARRIERS = 5;

  final Agents agents;
  final BlockRun block;
  final Clock clock = new Clock();

  private final int agent;
  private final int[] unfenced = new int[Fence.values().length];
  private int tick;
  private int remote;
  private int published;
  private long epoch;
  private long readEpoch;
  private long met;
  private long metReads;

  Actor(Agents agents, BlockRun block, String name) {
    this.agents = agents;
    this.block = block;
    this.agent = agents.addWarp(block, name);
    agents.addAspect(block, name + " (fenced)");
    agents.addAspect(block, name + " (fenced for global memory)");
    agents.addAspect(block, "an arrival by " + name);
    agents.addAspect(block, name);
    agents.addAspect(block, "a barrier made by " + name);
    meetLanes();
  }

  String name() {
    return agents.name(agent, block);
  }

  /** The epoch of accesses that the warp makes now. */
  long epoch() {
    return epoch;
  }

  /** The epoch of reads that the warp makes now. */
  long readEpoch() {
    return readEpoch;
  }

  /** Lets a clock know that the warp's reads up to here are over, and nothing else. */
  void releaseReads(Clock to) {
    to.learn(agent + READS, tick);
    nextTick();
  }

  /** An epoch of something else in the warp's cluster. */
  long epoch(int other, int otherTick) {
    return Agents.epoch(block.cluster(), other, otherTick);
  }

  /** What the warp does from here on is not covered by what others learned before. */
  void nextTick() {
    clock.learn(agent, ++tick);
    clock.learn(agent + READS, tick);
    epoch = epoch(agent, tick);
    readEpoch = epoch(agent + READS, tick);
  }

  /** The warp's lanes have met: what one of them did is over before the others go on. */
  void meetLanes() {
    nextTick();
    met = epoch;
    metReads = readEpoch;
  }

  /** Whether an epoch of writes is this warp's own, and its lanes have not met since. */
  boolean wroteSinceMeeting(long other) {
    return other >= met && other <= epoch;
  }

  /** Whether an epoch of reads is this warp's own, and its lanes have not met since. */
  boolean readSinceMeeting(long other) {
    return other >= metReads && other <= readEpoch;
  }

  /** Lets a clock know all that the warp does up to here. */
  void release(Clock to) {
    to.join(clock);
    nextTick();
  }

  /** Lets a clock know of what the warp has waited for, but not of its own accesses. */
  void releaseWaitedFor(Clock to) {
    to.joinWithout(clock, agents.warps());
  }

  /** Something done in another block, which must not have ended by then. */
  void reaches(BlockRun other) {
    clock.learn(agent + REMOTE, ++remote);
    other.outstanding.learn(agent + REMOTE, remote);
  }

  /** The epoch in which barriers are published that the warp has made. */
  long publishes() {
    clock.learn(agent + BARRIERS, ++published);
    return epoch(agent + BARRIERS, published);
  }

  /** Whether the warp knows that another block has started: it met all of its warps. */
  boolean knowsStart(BlockRun other) {
    for (Warp w : other.warps()) {
      if (clock.get(w.actor.agent + READS) == 0) {
        return false;
      }
    }
    return true;
  }

  /** Whether an epoch has happened as far as the warp knows. */
  boolean knows(long other) {
    return other == 0
        || agents.comparable(other, epoch) && Agents.tick(other) <= clock.get(Agents.agent(other));
  }

  /** Whether ordinary accesses of this epoch have been fenced, as far as the warp knows. */
  boolean knowsFenced(long other, Fence fence) {
    int writer = Agents.agent(other);
    return !agents.warps().get(writer)
        || Agents.tick(other) <= clock.get(writer + 1 + fence.ordinal());
  }

  /** Lanes (a mask) have written without a fence. */
  void wrote(Fence fence, int lanes) {
    unfenced[fence.ordinal()] |= lanes;
  }

  /** Lanes execute a fence: each makes only what it wrote itself visible. */
  void fence(Fence fence, int lanes) {
    unfenced[fence.ordinal()] &= ~lanes;
    if (unfenced[fence.ordinal()] == 0) {
      clock.learn(agent + 1 + fence.ordinal(), tick);
    }
    if (fence == Fence.GLOBAL) {
      // What the warp has acquired is fenced by it as well as by those who wrote it.
      for (int w = agents.warps().nextSetBit(0); w >= 0; w = agents.warps().nextSetBit(w + 1)) {
        if (w != agent) {
          clock.learn(w + 1 + fence.ordinal(), clock.get(w));
        }
      }
    }
    nextTick();
  }
}
