package dev.warpwright.sim;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.block.Blocked;
import dev.warpwright.sim.block.ClusterRun;
import dev.warpwright.sim.block.TmaLoads;
import dev.warpwright.sim.block.Turns;
import dev.warpwright.sim.block.Warp;
import dev.warpwright.sim.expr.Context;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Decides which warp goes on. A warp that waits in a loop for another goes round only when no one
 * else can do anything, with random warps also before, so that one which goes on too soon does;
 * bulk loads arrive only when all warps wait (at random times with random warps), so that a missing
 * wait shows.
 */
final class Scheduler {
  /** So often in a row may warps let others go first before loads arrive all the same. */
  private static final int PATIENCE = 256;

  /** Waits that a message tells. */
  private static final int TOLD = 6;

  private final Context context;
  private final GridOptions options;
  private final TmaLoads loads;
  private final Turns turns;
  private final Stmt body;
  private final SplittableRandom random;
  private final List<ClusterRun> resident = new ArrayList<>();

  /** Of one step; kept, for there are about as many steps as warps and times that they stop. */
  private final List<Warp> runnable = new ArrayList<>();

  private final List<Warp> busy = new ArrayList<>();
  private final List<Warp> eager = new ArrayList<>();
  private int yields;
  private int turn;

  /** Starts a cluster in one of the places for those in execution. */
  @FunctionalInterface
  interface Start {
    ClusterRun cluster(long number, int place);
  }

  Scheduler(Context context, GridOptions options, TmaLoads loads, Turns turns, Stmt body) {
    this.context = context;
    this.options = options;
    this.loads = loads;
    this.turns = turns;
    this.body = body;
    this.random = new SplittableRandom(options.seed());
  }

  /**
   * Executes all clusters.
   *
   * @param atOnce how many are in execution together
   */
  void run(int clusters, int atOnce, Start start) {
    int[] order = options.blocks().turns().of(clusters, random);
    BitSet taken = new BitSet();
    int next = 0;
    while (next < clusters || !resident.isEmpty()) {
      while (next < clusters && resident.size() < atOnce) {
        taken.clear();
        resident.forEach(cluster -> taken.set(cluster.place));
        resident.add(start.cluster(order[next++], taken.nextClearBit(0)));
      }
      step();
      boolean ended = false;
      for (ClusterRun cluster : resident) {
        cluster.endBlocks(body);
        ended |= cluster.finished();
      }
      if (ended) {
        resident.removeIf(ClusterRun::finished);
      }
    }
  }

  private void step() {
    runnable.clear();
    for (ClusterRun cluster : resident) {
      cluster.addRunnable(runnable);
    }
    busy.clear();
    for (Warp w : runnable) {
      if (w.spinning() == null) {
        busy.add(w);
      }
    }
    if (!busy.isEmpty()) {
      if (options.warps() == GridOptions.WarpChoice.RANDOM && random.nextInt(4) == 0
          || yields > PATIENCE) {
        arriveOne();
        yields = 0;
      }
      if (options.warps() == GridOptions.WarpChoice.RANDOM
          && busy.size() < runnable.size()
          && random.nextInt(4) == 0) {
        List<Warp> round = runnable.stream().filter(w -> w.spinning() != null).toList();
        resume(round.get(random.nextInt(round.size())));
        return;
      }
      resume(choose());
      return;
    }
    if (release() || arriveOne()) {
      return;
    }
    boolean changed = false;
    for (Warp w : runnable) {
      long before = w.changes;
      resume(w);
      changed |= w.changes != before || w.spinning() == null;
    }
    if (!changed && !release()) {
      List<Warp> waiting = new ArrayList<>();
      resident.forEach(
          cluster ->
              cluster.blocks.forEach(
                  block -> {
                    for (Warp w : block.warps()) {
                      if (!w.finished()) {
                        waiting.add(w);
                      }
                    }
                  }));
      if (!waiting.isEmpty()) {
        throw deadlock(waiting);
      }
    }
  }

  /** Lets one bulk load arrive, and says whether there was one. */
  private boolean arriveOne() {
    int pending = loads.count();
    if (pending == 0) {
      return false;
    }
    loads.arrive(
        switch (options.warps()) {
          case FIRST, TURNS, EVEN -> 0;
          case LAST -> pending - 1;
          case RANDOM -> random.nextInt(pending);
        });
    return true;
  }

  private void resume(Warp w) {
    turns.next();
    w.resumed = turns.now();
    w.resume();
    if (w.runnable()) {
      yields++;
    } else {
      yields = 0;
      release();
    }
  }

  private boolean release() {
    boolean released = false;
    for (ClusterRun cluster : resident) {
      released |= cluster.releaseBarriers();
    }
    return released;
  }

  /** A busy warp that did not let others go first, if there is one. */
  private Warp choose() {
    eager.clear();
    for (Warp w : busy) {
      if (!w.hasYielded()) {
        eager.add(w);
      }
    }
    if (eager.isEmpty()) {
      busy.forEach(Warp::forgetYield);
      eager.addAll(busy);
    }
    return switch (options.warps()) {
      case FIRST -> eager.getFirst();
      case LAST -> eager.getLast();
      case RANDOM -> eager.get(random.nextInt(eager.size()));
      case TURNS -> eager.get(turn++ % eager.size());
      case EVEN -> Collections.min(eager, Comparator.comparingLong(w -> w.resumed));
    };
  }

  private SimulationError deadlock(List<Warp> waiting) {
    Map<String, List<Integer>> waits = new LinkedHashMap<>();
    for (Warp w : waiting) {
      waits.computeIfAbsent(wait(w), key -> new ArrayList<>()).add(w.index);
    }
    StringBuilder text = new StringBuilder();
    int told = 0;
    for (Map.Entry<String, List<Integer>> wait : waits.entrySet()) {
      if (told++ == TOLD) {
        text.append("; and ").append(waits.size() - TOLD).append(" more waits");
        break;
      }
      text.append(text.isEmpty() ? "" : "; ").append("warps ").append(wait.getValue());
      text.append(wait.getKey());
    }
    Warp first = waiting.getFirst();
    return context.fault(Finding.Kind.DEADLOCK, where(first), first.lanes[0], "", text.toString());
  }

  private Stmt where(Warp w) {
    @Nullable Stmt spinning = w.spinning();
    @Nullable Stmt barrier = w.waiting;
    @Nullable Blocked blocked = w.blocked();
    return blocked != null
        ? blocked.where()
        : barrier != null ? barrier : spinning != null ? spinning : body;
  }

  private String wait(Warp w) {
    Blocked blocked = w.blocked();
    Stmt where = where(w);
    return " of block "
        + w.block
        + (w.spinning() == null ? " wait" : " go round, without any change,")
        + " in line "
        + context.source().line(where)
        + " '"
        + context.source().excerpt(where)
        + "'"
        + (blocked == null ? "" : " for " + blocked.what());
  }
}
