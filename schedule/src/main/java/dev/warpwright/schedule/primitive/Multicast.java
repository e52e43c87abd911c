package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Forms;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Tree;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Lets the blocks of a cluster that copy the same tile load it together: each a part, for all of
 * them.
 *
 * <pre>{@code
 * block a_shared(…) { a_shared[…] = a[…] }  →  block a_shared(…) [multicast = "true"] { … }
 * }</pre>
 *
 * <p>{@link Tensorize} hands the attribute on to the tile copy.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The block exists.
 *   <li>It copies from global to shared memory, without changing the type.
 *   <li>Clusters of more than one block were asked for, see {@link Cluster}.
 *   <li>It is inside a loop that is shared out to blocks, and what it copies does not move with
 *       every coordinate of the tile: some blocks of a cluster do copy the same.
 * </ol>
 */
public final class Multicast {
  private static final String NAME = "multicast";

  private Multicast() {}

  public static PrimFunc apply(PrimFunc func, String blockName) {
    Check check = new Check(NAME, func);
    List<Stmt> path = check.block(1, blockName);
    Stmt.Block block = (Stmt.Block) path.getLast();
    if (!(block.body() instanceof Stmt.Store store)
        || !(store.value() instanceof Expr.Load load)
        || load.buffer().scope() != Scope.GLOBAL
        || store.buffer().scope() != Scope.SHARED) {
      throw check.error(
          2, "block " + blockName + " is not a copy from global to shared memory", block);
    }
    long blocks = func.attrs().getLong("clusterM", 1) * func.attrs().getLong("clusterN", 1);
    check.require(3, blocks > 1, "there is no cluster of several blocks", block);
    List<Stmt.For> around = Tree.loops(path).stream().filter(LoopKind::isOverBlocks).toList();
    check.require(4, !around.isEmpty(), "block " + blockName + " is in no loop over blocks", block);
    Ranges ranges = Tree.ranges(func, path);
    Substitution bound = Substitution.ofVars(Accesses.bindings(block));
    Set<Expr> coordinates = new HashSet<>();
    around.forEach(loop -> coordinates.addAll(coordinates(loop, ranges)));
    for (Expr index : load.indices()) {
      coordinates.removeAll(Forms.of(bound.expr(index), ranges).terms().keySet());
    }
    check.require(
        4,
        !coordinates.isEmpty(),
        "every block of a cluster copies another tile in block " + blockName,
        block);
    return Annotate.block(func, blockName, "multicast", "true");
  }

  /** What tells the tiles of a loop apart: row and column of a fused one, else the variable. */
  private static List<Expr> coordinates(Stmt.For loop, Ranges ranges) {
    Var x = loop.var();
    long columns = loop.attrs().getLong("columns", 0);
    if (columns == 0) {
      return List.of(x);
    }
    Set<Expr> atoms = new HashSet<>();
    atoms.addAll(Forms.of(Exprs.div(x, columns), ranges).terms().keySet());
    atoms.addAll(Forms.of(Exprs.mod(x, columns), ranges).terms().keySet());
    return List.copyOf(atoms);
  }
}
