package dev.warpwright.cli.program;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Stmt;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds a loop by the name that it has in the program's text: {@code i} where only one is called
 * so, {@code acc.k} for the loop {@code k} around block {@code acc}.
 */
final class LoopNames {
  private final Schedule schedule;

  LoopNames(Schedule schedule) {
    this.schedule = schedule;
  }

  /**
   * The loop.
   *
   * @throws UserError if there is none, or more than one
   */
  LoopRef find(String name) {
    int dot = name.lastIndexOf('.');
    @Nullable String block = dot < 0 ? null : name.substring(0, dot);
    String loop = name.substring(dot + 1);
    Map<String, List<Stmt.For>> blocks = blocks();
    if (block != null) {
      if (!blocks.containsKey(block)) {
        throw new UserError(
            name + ": no such block; there are " + String.join(", ", blocks.keySet()));
      }
      blocks.keySet().retainAll(Set.of(block));
    }
    Set<Stmt.For> found = new LinkedHashSet<>();
    String inside = "";
    for (Map.Entry<String, List<Stmt.For>> entry : blocks.entrySet()) {
      for (Stmt.For each : entry.getValue()) {
        if (each.var().name().equals(loop) && found.add(each)) {
          inside = entry.getKey();
        }
      }
    }
    if (found.isEmpty()) {
      throw new UserError(name + ": no such loop; there are " + names(blocks));
    }
    if (found.size() > 1) {
      throw new UserError(
          name
              + ": several loops are called so; write BLOCK."
              + loop
              + ", or name them: a, b = loops(BLOCK)");
    }
    Stmt.For only = found.iterator().next();
    return schedule.loops(new BlockRef(inside)).stream()
        .filter(ref -> ref.variable() == only.var())
        .findFirst()
        .orElseThrow();
  }

  private static String names(Map<String, List<Stmt.For>> blocks) {
    Set<String> names = new LinkedHashSet<>();
    blocks.values().forEach(loops -> loops.forEach(loop -> names.add(loop.var().name())));
    return names.isEmpty() ? "none" : String.join(", ", names);
  }

  /** The loops around each block, outermost first. */
  private Map<String, List<Stmt.For>> blocks() {
    Map<String, List<Stmt.For>> blocks = new LinkedHashMap<>();
    collect(schedule.func().body(), new ArrayDeque<>(), blocks);
    return blocks;
  }

  private static void collect(
      Stmt stmt, Deque<Stmt.For> around, Map<String, List<Stmt.For>> blocks) {
    switch (stmt) {
      case Stmt.For loop -> {
        around.addLast(loop);
        collect(loop.body(), around, blocks);
        around.removeLast();
      }
      case Stmt.Block block -> blocks.put(block.name(), new ArrayList<>(around));
      case Stmt.Seq(List<Stmt> stmts) -> stmts.forEach(s -> collect(s, around, blocks));
      case Stmt.Alloc alloc -> collect(alloc.body(), around, blocks);
      case Stmt.Let let -> collect(let.body(), around, blocks);
      case Stmt.If branch -> {
        collect(branch.then(), around, blocks);
        if (branch.otherwise() != null) {
          collect(branch.otherwise(), around, blocks);
        }
      }
      case Stmt.While loop -> collect(loop.body(), around, blocks);
      case Stmt.Flow _,
          Stmt.Store _,
          Stmt.Evaluate _,
          Stmt.Comment _,
          Stmt.TileCopy _,
          Stmt.TileFill _,
          Stmt.TileMma _,
          Stmt.TileMap _,
          Stmt.TileReduce _ -> {}
    }
  }
}
