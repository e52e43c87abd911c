package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Exchanges loops of a nest: the places that the given loops hold are given to them in the given
 * order; other loops stay where they are.
 *
 * <pre>{@code
 * reorder(k, i): for i { for j { for k { S } } }  →  for k { for j { for i { S } } }
 * }</pre>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The loops exist, each is given once.
 *   <li>They are one nest: from the outermost to the innermost of them, every loop is all there is
 *       in the one around it.
 *   <li>No bound of a loop of the nest depends on another.
 *   <li>None of them is vectorized.
 *   <li>Inside is one block, and the loops that carry its reduction keep their order (so that the
 *       bits of the result stay); or iterations of the nest are independent.
 *   <li>Parallel loops of the result are independent.
 * </ol>
 */
public final class Reorder {
  private static final String NAME = "reorder";

  private Reorder() {}

  public static PrimFunc apply(PrimFunc func, List<Var> order) {
    Check check = new Check(NAME, func);
    List<Stmt> deepest = List.of();
    for (Var v : order) {
      List<Stmt> path = check.loop(1, v);
      deepest = path.size() > deepest.size() ? path : deepest;
    }
    check.require(
        1,
        !order.isEmpty() && new HashSet<>(order).size() == order.size(),
        "the loops are not given once each",
        null);
    List<Stmt.For> all = Tree.loops(deepest);
    int first = 0;
    while (!order.contains(all.get(first).var())) {
      first++;
    }
    List<Stmt.For> nest = all.subList(first, all.size());
    Set<Var> vars = new HashSet<>();
    nest.forEach(loop -> vars.add(loop.var()));
    check.require(
        2, vars.containsAll(order), "the loops are not around each other", nest.getFirst());
    for (int i = 0; i + 1 < nest.size(); i++) {
      check.require(
          2,
          nest.get(i).body() == nest.get(i + 1),
          "loop " + nest.get(i + 1).var() + " is not all there is in loop " + nest.get(i).var(),
          nest.get(i));
    }
    for (Stmt.For loop : nest) {
      check.require(
          3,
          !Affine.mentions(loop.extent(), vars) && !Affine.mentions(loop.min(), vars),
          "the bounds of loop " + loop.var() + " depend on another loop of the nest",
          loop);
      check.require(
          4, loop.kind() != ForKind.VECTORIZED, "loop " + loop.var() + " is vectorized", loop);
    }

    List<Stmt.For> reordered = new ArrayList<>();
    int next = 0;
    for (Stmt.For loop : nest) {
      if (order.contains(loop.var())) {
        Var v = order.get(next++);
        reordered.add(nest.stream().filter(l -> l.var() == v).findFirst().orElseThrow());
      } else {
        reordered.add(loop);
      }
    }
    Stmt body = nest.getLast().body();
    List<Stmt.Block> blocks = Tree.blocks(body);
    if (blocks.size() == 1 && Guard.firstOutsideBlocks(body) == null) {
      Stmt.Block block = blocks.getFirst();
      check.require(
          5,
          carriers(block, nest).equals(carriers(block, reordered)),
          "the loops that carry the reduction of block " + block.name() + " would change order",
          block);
    } else {
      check.independent(5, nest, body, Tree.ranges(func, deepest));
    }
    for (Stmt.For loop : reordered.reversed()) {
      body = loop.withBody(body);
    }
    return check.parallelLoopsIndependent(6, Tree.replace(func, nest.getFirst(), body));
  }

  /** For a reduction block, the loops that are not purely over its spatial variables. */
  private static List<Var> carriers(Stmt.Block block, List<Stmt.For> loops) {
    if (!block.isReduction()) {
      return List.of();
    }
    return loops.stream().map(Stmt.For::var).filter(v -> !isSpatial(block, v)).toList();
  }

  /** Whether the variable decides which spatial instance runs, and nothing else. */
  static boolean isSpatial(Stmt.Block block, Var variable) {
    boolean spatial = false;
    for (IterVar iterVar : block.iterVars()) {
      if (Affine.mentions(iterVar.binding(), Set.of(variable))) {
        if (iterVar.isReduce()) {
          return false;
        }
        spatial = true;
      }
    }
    return spatial;
  }
}
