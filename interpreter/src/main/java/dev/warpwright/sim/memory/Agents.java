package dev.warpwright.sim.memory;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Those who access memory: warps, and what works beside them (TMA copies, products of warpgroups).
 * Each goes through ticks. An <em>epoch</em> is a tick of an agent of some cluster of blocks, in a
 * {@code long}; 0 is none.
 *
 * <p>Clusters know nothing of each other unless they share counters in global memory; then all
 * clusters of a grid share one of these.
 */
public final class Agents {
  private static final int TICK_BITS = 24;
  private static final int AGENT_BITS = 20;
  private static final int CLUSTER_BITS = 19;

  private final boolean shared;
  private final List<Name> names = new ArrayList<>();
  private final BitSet warps = new BitSet();

  /** Who launches before the kernel are, if they may still be under way; then the first agent. */
  private static final int PREVIOUS = 0;

  private record Name(@Nullable BlockPlace block, String text, boolean isWarp) {}

  /**
   * Agents of a kernel that begins before the launches before it have ended: these are one agent,
   * whose only tick is known to whoever has waited for them.
   */
  public static Agents behindPrevious() {
    Agents agents = new Agents(true);
    agents.names.add(new Name(null, "the launches before", false));
    return agents;
  }

  /** The epoch of what the launches before do. */
  public static long previous() {
    return epoch(0, PREVIOUS, 1);
  }

  /** Lets someone know that the launches before have ended. */
  public static void learnPrevious(Actor actor, byte lane) {
    actor.learn(lane, PREVIOUS, 1);
  }

  /** Whether a clock knows that the launches before have ended. */
  public static boolean knowsPrevious(Clock clock) {
    return clock.get(PREVIOUS) > 0;
  }

  /** Whether the launches before are one of these agents. */
  public boolean havePrevious() {
    return !names.isEmpty() && names.getFirst().block == null;
  }

  /** Whether an epoch is of the launches before this one, among these agents. */
  public boolean isPrevious(long epoch) {
    return havePrevious() && agent(epoch) == PREVIOUS;
  }

  /** Shared: whether several clusters share these. */
  public Agents(boolean shared) {
    this.shared = shared;
  }

  /** A warp, whose accesses are ordinary. */
  int addWarp(BlockPlace block, String text) {
    int agent = addAspect(block, text);
    warps.set(agent);
    return agent;
  }

  /** Something that a warp does, apart from its ordinary accesses. */
  int addAspect(BlockPlace block, String text) {
    names.add(new Name(block, text, true));
    return names.size() - 1;
  }

  /** Something that works beside the warps. */
  public int add(BlockPlace block, String text) {
    names.add(new Name(block, text, false));
    return names.size() - 1;
  }

  /** The warps among the agents. */
  BitSet warps() {
    return warps;
  }

  /** The agent for a message, its block too unless it is the one given. */
  public String name(int agent, BlockPlace block) {
    Name name = names.get(agent);
    return name.block == null || name.block == block
        ? name.text
        : name.text + " of block " + name.block;
  }

  /**
   * Whose epoch it is, of any cluster of the grid, for a message. Clusters that know nothing of
   * each other have their warps' agents in the same order, what works beside the warps in any.
   *
   * @param block to which the message is given
   */
  public String name(long epoch, BlockPlace block) {
    int agent = agent(epoch);
    long cluster = (epoch >>> (AGENT_BITS + TICK_BITS)) - 1;
    if (shared || cluster == block.cluster()) {
      return name(agent, block);
    }
    Name name = agent < names.size() ? names.get(agent) : null;
    return name != null && name.isWarp && name.block != null
        ? name.text + " of block " + name.block.inCluster(cluster)
        : "a copy or mma of another block";
  }

  static long epoch(long cluster, int agent, int tick) {
    return (cluster + 1 & (1L << CLUSTER_BITS) - 1) << (AGENT_BITS + TICK_BITS)
        | (long) agent << TICK_BITS
        | tick;
  }

  static int agent(long epoch) {
    return (int) (epoch >>> TICK_BITS) & (1 << AGENT_BITS) - 1;
  }

  static int tick(long epoch) {
    return (int) epoch & (1 << TICK_BITS) - 1;
  }

  /** Whether someone of these agents can know the epoch's agent at all. */
  boolean comparable(long epoch, long other) {
    return shared || epoch >>> (AGENT_BITS + TICK_BITS) == other >>> (AGENT_BITS + TICK_BITS);
  }
}
