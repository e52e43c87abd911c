package dev.warpwright.sim.block;

import dev.warpwright.ir.Stmt;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.Frame;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The barriers 1 to 15 of a block, at which some of its warps wait for each other. */
public final class NamedBarriers {
  private static final int LAST = 15;

  private final Context context;
  private final Map<Long, List<Arrival>> waiting = new HashMap<>();

  NamedBarriers(Context context) {
    this.context = context;
  }

  /** A warp that waits. */
  final class Arrival implements Blocked {
    private final Warp warp;
    private final long id;
    private final long threads;
    private final Stmt where;
    private boolean over;

    private Arrival(Warp warp, long id, long threads, Stmt where) {
      this.warp = warp;
      this.id = id;
      this.threads = threads;
      this.where = where;
    }

    @Override
    public boolean isOver() {
      return over;
    }

    @Override
    public Stmt where() {
      return where;
    }

    @Override
    public String what() {
      int here = waiting.getOrDefault(id, List.of()).size() * 32;
      return "barrier " + id + ", where " + here + " of " + threads + " threads are";
    }
  }

  /** A warp arrives, and the last lets all go on. */
  public void arrive(Warp w, long id, long threads, Stmt where) {
    Frame first = w.lanes[0];
    if (id < 1 || id > LAST) {
      throw context.fault(
          Finding.Kind.BARRIER, where, first, "", "there is no barrier " + id + ", only 1 to 15");
    }
    if (threads < 32 || threads % 32 != 0 || threads > 1024) {
      throw context.fault(
          Finding.Kind.BARRIER, where, first, "", threads + " threads are no whole warps");
    }
    List<Arrival> here = waiting.computeIfAbsent(id, key -> new ArrayList<>());
    if (!here.isEmpty() && here.getFirst().threads != threads) {
      throw context.fault(
          Finding.Kind.BARRIER,
          where,
          first,
          "",
          "barrier "
              + id
              + " is for "
              + threads
              + " threads here, for "
              + here.getFirst().threads
              + " where warp "
              + here.getFirst().warp.index
              + " waits");
    }
    Arrival arrival = new Arrival(w, id, threads, where);
    here.add(arrival);
    w.block(arrival);
    if (here.size() * 32L >= threads) {
      waiting.remove(id);
      BlockRun.meet(here.stream().map(a -> a.warp).toList());
      here.forEach(a -> a.over = true);
    }
  }
}
