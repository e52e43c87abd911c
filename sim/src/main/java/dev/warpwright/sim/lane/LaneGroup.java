package dev.warpwright.sim.lane;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Items that stand in one loop over the lanes, or one that does not.
 *
 * @param weight about how many bytes of bytecode it takes
 */
record LaneGroup(List<LaneItem> items, LaneEffects effects, boolean laneByLane, int weight) {
  /**
   * Items in groups.
   *
   * @param counts whether requests to memory are counted, statement by statement
   * @param most about so many bytes of code
   */
  static List<LaneGroup> of(List<LaneItem> items, boolean counts, int most) {
    List<LaneGroup> groups = new ArrayList<>();
    for (LaneItem item : items) {
      LaneEffects effects = item.effects();
      int weight = item.weight();
      boolean alone =
          !effects.laneByLane()
              || (weight > most && item instanceof LaneItem.Whole)
              || (counts && item instanceof LaneItem.Whole);
      LaneGroup last = groups.isEmpty() ? null : groups.getLast();
      if (!alone
          && last != null
          && last.laneByLane
          && !counts
          && last.weight + weight <= most
          && last.effects.laneByLaneWith(effects)) {
        List<LaneItem> joined = new ArrayList<>(last.items);
        joined.add(item);
        last.effects.add(effects);
        groups.set(
            groups.size() - 1, new LaneGroup(joined, last.effects, true, last.weight + weight));
      } else {
        groups.add(new LaneGroup(List.of(item), effects, !alone, weight));
      }
    }
    return groups;
  }

  /** Buffers that the items access and do not make. */
  Set<Buffer> buffers() {
    Set<Buffer> buffers = Collections.newSetFromMap(new IdentityHashMap<>());
    for (LaneItem item : items) {
      switch (item) {
        case LaneItem.Assign(Stmt.Let let) -> buffers.addAll(buffers(let.value()));
        case LaneItem.Fresh _ -> {}
        case LaneItem.Whole(Stmt s) -> buffers.addAll(buffers(s));
      }
    }
    for (LaneItem item : items) {
      if (item instanceof LaneItem.Fresh(Stmt.Alloc alloc)) {
        buffers.remove(alloc.buffer());
      }
    }
    return buffers;
  }

  /** Of how many vectors in an expression elements look at the one before: loaded or split. */
  static int vectors(Expr e) {
    int[] count = {0};
    Walk.expressions(
        e,
        part -> {
          boolean looks = part instanceof Expr.Load || LaneBitcasts.splits(part);
          count[0] += looks && !part.type().isScalar() ? 1 : 0;
        });
    return count[0];
  }

  /** Buffers that an expression accesses. */
  static Set<Buffer> buffers(Expr e) {
    Set<Buffer> buffers = Collections.newSetFromMap(new IdentityHashMap<>());
    Walk.expressions(
        e,
        part -> {
          if (part instanceof Expr.Load load) {
            buffers.add(load.buffer());
          }
        });
    return buffers;
  }

  /** Buffers that a statement accesses and does not make. */
  private static Set<Buffer> buffers(Stmt s) {
    Set<Buffer> buffers = Collections.newSetFromMap(new IdentityHashMap<>());
    Walk.all(
        s,
        part -> {
          if (part instanceof Stmt.Store store) {
            buffers.add(store.buffer());
          }
        },
        part -> {
          if (part instanceof Expr.Load load) {
            buffers.add(load.buffer());
          }
        });
    Walk.statements(
        s,
        part -> {
          if (part instanceof Stmt.Alloc alloc) {
            buffers.remove(alloc.buffer());
          }
        });
    return buffers;
  }
}
