package dev.warpwright.sim.block;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.Index3;
import dev.warpwright.sim.memory.Actor;
import dev.warpwright.sim.memory.Agents;
import dev.warpwright.sim.memory.BlockPlace;
import dev.warpwright.sim.memory.Clock;
import dev.warpwright.sim.memory.Shadow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One block in execution. */
public final class BlockRun extends BlockPlace {
  public final ClusterRun in;
  public final int rank;
  public final NamedBarriers named;

  /** Its barriers in shared memory, by slot of the buffer and element. */
  public final MBarrier[][] barriers;

  /** Storage and shadow of its shared buffers, by slot. */
  public final byte[][] memory;

  public final @Nullable Shadow[] shadows;

  /** Barriers made but not yet published by a fence. */
  public final List<MBarrier> unpublished = new ArrayList<>();

  private final Context context;
  private final Index3 index;
  private Warp[] warps = {};
  private List<Actor> actors = List.of();
  private WgmmaQueue[] products = {};
  private @Nullable RegisterPool registers;
  private boolean ended;

  /** What threads of other blocks have accessed in its memory: of each thread the last access. */
  private final Map<Frame, RemoteAccess> remote = new LinkedHashMap<>(0);

  public BlockRun(Context context, ClusterRun in, int rank, Index3 index, int bufferSlots) {
    this.context = context;
    this.in = in;
    this.rank = rank;
    this.index = index;
    this.named = new NamedBarriers(context);
    this.barriers = new MBarrier[bufferSlots][];
    this.memory = new byte[bufferSlots][];
    this.shadows = new Shadow[bufferSlots];
  }

  /** Gives the block its warps. */
  public void populate(Warp[] all, @Nullable RegisterPool pool) {
    warps = all;
    actors = Arrays.stream(all).map(w -> w.actor).toList();
    registers = pool;
    products = new WgmmaQueue[(all.length + WgmmaQueue.WARPS - 1) / WgmmaQueue.WARPS];
  }

  @Override
  public String toString() {
    return index.toString();
  }

  /** Where the block runs: the simulator has an SM for each block in execution. */
  public int sm() {
    return in.place * in.blocks.size() + rank;
  }

  Agents agents() {
    return in.agents;
  }

  /** The block of a thread. */
  public static BlockRun of(Frame f) {
    return (BlockRun) Objects.requireNonNull(f.actor).block;
  }

  @Override
  public List<Actor> actors() {
    return actors;
  }

  @Override
  public String inCluster(long number) {
    return in.block(number, rank).toString();
  }

  public @Override long cluster() {
    return in.number;
  }

  public Warp[] warps() {
    return warps;
  }

  /** Whether the block has ended, after which its shared memory is gone. */
  public boolean ended() {
    return ended;
  }

  /**
   * A thread of another block of the cluster accesses the block's memory. Who knows of the last
   * access of a thread knows of all before it.
   *
   * @param target the buffer, for messages
   * @throws SimulationError if the block has ended
   */
  public void accessedBy(Frame f, Actor actor, String target, Stmt where) {
    RemoteAccess access = RemoteAccess.ofThread(RemoteAccess.What.ELEMENT, f, actor, target, where);
    if (ended) {
      throw access.unordered(context, this);
    }
    remote.put(f, access);
  }

  /** The pool of registers, null if the kernel does not fix how many there are at entry. */
  public @Nullable RegisterPool registers() {
    return registers;
  }

  /** The products of the warpgroup that a warp is in. */
  public WgmmaQueue products(Warp w) {
    int group = w.index / WgmmaQueue.WARPS;
    if (products[group] == null) {
      products[group] = new WgmmaQueue(context, this, group);
    }
    return products[group];
  }

  boolean finished() {
    for (Warp w : warps) {
      if (!w.finished()) {
        return false;
      }
    }
    return true;
  }

  /** Warps that have met know what each of them knew, or only had waited for if it says no more. */
  static void meet(List<Warp> those) {
    Clock all = new Clock();
    for (Warp w : those) {
      if (w.meetsRelaxed) {
        w.actor.releaseWaitedFor(Shadow.WHOLE_WARP, all);
      } else {
        w.actor.release(Shadow.WHOLE_WARP, all);
      }
    }
    for (Warp w : those) {
      w.actor.clock.join(all);
      if (!w.meetsRelaxed) {
        w.actor.meetLanes();
      }
    }
  }

  /**
   * Lets the warps go on if all of them wait at one barrier of the block.
   *
   * @return whether it did
   * @throws SimulationError if those that wait can never go on
   */
  boolean releaseBarrier() {
    for (Warp w : warps) {
      if (w.waiting == null ? !w.finished() : w.waitingForCluster) {
        return false;
      }
    }
    Map<Stmt, List<Integer>> waiting = new LinkedHashMap<>();
    List<Integer> finished = new ArrayList<>();
    for (Warp w : warps) {
      if (w.finished()) {
        finished.add(w.index);
      } else {
        waiting.computeIfAbsent(w.waiting, key -> new ArrayList<>()).add(w.index);
      }
    }
    if (waiting.isEmpty()) {
      return false;
    }
    if (waiting.size() > 1 || !finished.isEmpty()) {
      throw stuck(waiting, finished);
    }
    meet(List.of(warps));
    for (Warp w : warps) {
      w.waiting = null;
    }
    return true;
  }

  private SimulationError stuck(Map<Stmt, List<Integer>> waiting, List<Integer> finished) {
    StringBuilder text = new StringBuilder("not all warps of the block arrive: ");
    waiting.forEach(
        (barrier, who) ->
            text.append("warps ")
                .append(who)
                .append(" wait at ")
                .append(place(barrier))
                .append("; "));
    text.append(
        finished.isEmpty() ? "these are different barriers" : "warps " + finished + " have ended");
    Frame first = warps[waiting.values().iterator().next().getFirst()].lanes[0];
    return context.fault(
        Finding.Kind.BARRIER, waiting.keySet().iterator().next(), first, "", text.toString());
  }

  private String place(Stmt barrier) {
    return "'" + context.source().excerpt(barrier) + "'";
  }

  /** Checks that what other blocks do here happens before the end, at which this is known. */
  private void requireAlone(Clock known) {
    for (RemoteAccess access : remote.values()) {
      if (!access.isKnownTo(known)) {
        throw access.unordered(context, this);
      }
    }
    for (MBarrier[] of : barriers) {
      for (int i = 0; of != null && i < of.length; i++) {
        of[i].requireOver(known);
      }
    }
  }

  /**
   * Ends the block, whose warps have all ended.
   *
   * @param last the statement after which a block ends, for messages
   * @throws SimulationError if something may still use its shared memory or registers
   */
  void end(Stmt last) {
    Clock known = new Clock();
    for (Warp w : warps) {
      w.actor.tell(known);
      for (TmaStores s : w.stores) {
        s.finish();
      }
    }
    if (agents().havePrevious() && !Agents.knowsPrevious(known)) {
      throw context.fault(
          Finding.Kind.BARRIER,
          last,
          warps[0].lanes[0],
          "",
          "block "
              + this
              + " ends without griddepcontrol.wait: whoever waits for this launch would not have"
              + " waited for those before it");
    }
    if (in.blocks.size() > 1) {
      requireAlone(known);
    }
    int behind = known.firstBehind(outstanding);
    if (behind >= 0) {
      throw context.fault(
          Finding.Kind.BARRIER,
          last,
          warps[0].lanes[0],
          "",
          "block "
              + this
              + " may end before "
              + agents().name(behind, this)
              + " is over, which still uses its shared memory or registers");
    }
    ended = true;
  }

  /** The barrier at an element of a buffer of barriers. */
  public MBarrier barrier(int slot, int element) {
    return Objects.requireNonNull(barriers[slot])[element];
  }
}
