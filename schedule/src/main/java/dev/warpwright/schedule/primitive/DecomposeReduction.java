package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Takes the initialisation of a reduction out, to before a loop.
 *
 * <pre>{@code
 * for i { for k { block c { init { c[i] = 0 }  c[i] += a[i, k] } } }
 * →   (at k)
 * for i { block c_init { c[i] = 0 }
 *         for k { block c { c[i] += a[i, k] } } }
 * }</pre>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The block and the loop exist, and the loop is around the block, under no condition of its
 *       own.
 *   <li>The block is a reduction with an initialisation.
 *   <li>No loop around the given one is over a reduce variable of the block.
 *   <li>The loops from the given one on are over spatial variables or over reduce variables, not
 *       over both, nor over none of them, and each predicate concerns one kind only.
 *   <li>The buffer that the block writes is allocated around the given loop.
 * </ol>
 */
public final class DecomposeReduction {
  private static final String NAME = "decomposeReduction";

  private DecomposeReduction() {}

  /** The new function, and the name of the initialising block. */
  public record Result(PrimFunc func, String init) {}

  public static Result apply(PrimFunc func, String blockName, Var loopVar) {
    Check check = new Check(NAME, func);
    List<Stmt> path = check.block(1, blockName);
    Stmt.Block block = (Stmt.Block) path.getLast();
    List<Stmt.For> around = Tree.loops(path);
    List<Var> vars = around.stream().map(Stmt.For::var).toList();
    check.loop(1, loopVar);
    int at = vars.indexOf(loopVar);
    check.require(1, at >= 0, "loop " + loopVar + " is not around block " + blockName, block);
    for (Stmt between : path.subList(Tree.indexOn(path, around.get(at)), path.size())) {
      check.require(
          1,
          !(between instanceof Stmt.If),
          "block " + blockName + " is under a condition in loop " + loopVar,
          between);
    }
    Stmt init = block.init();
    if (init == null || !block.isReduction()) {
      throw check.error(2, "block " + blockName + " has no initialisation", block);
    }
    for (Buffer buffer : Accesses.written(block)) {
      List<Stmt> alloc = Tree.pathToAlloc(func, buffer);
      check.require(
          5,
          alloc == null || Tree.indexOn(path, alloc.getLast()) < Tree.indexOn(path, around.get(at)),
          buffer.name() + " is allocated inside loop " + loopVar,
          block);
    }
    Set<Var> reduceLoops = new HashSet<>();
    Set<Var> spatialLoops = new HashSet<>();
    for (int i = 0; i < around.size(); i++) {
      for (IterVar iterVar : block.iterVars()) {
        if (Affine.mentions(iterVar.binding(), Set.of(vars.get(i)))) {
          (iterVar.isReduce() ? reduceLoops : spatialLoops).add(vars.get(i));
        }
      }
      check.require(
          3,
          i >= at || !reduceLoops.contains(vars.get(i)),
          "loop " + vars.get(i) + " around loop " + loopVar + " carries the reduction",
          around.get(i));
      check.require(
          4,
          i < at || reduceLoops.contains(vars.get(i)) || spatialLoops.contains(vars.get(i)),
          "loop " + vars.get(i) + " computes block " + blockName + " again and again",
          around.get(i));
      check.require(
          4,
          !(reduceLoops.contains(vars.get(i)) && spatialLoops.contains(vars.get(i))),
          "loop " + vars.get(i) + " is over spatial and reduce variables",
          around.get(i));
    }

    Map<Var, Expr> fresh = new HashMap<>();
    List<Stmt.For> loops = new ArrayList<>();
    for (Stmt.For loop : around.subList(at, around.size())) {
      if (spatialLoops.contains(loop.var())) {
        Var v = Var.index(loop.var().name());
        loops.add(
            new Stmt.For(
                v,
                loop.min(),
                loop.extent(),
                loop.kind(),
                loop.axis(),
                loop.attrs(),
                Stmt.Seq.EMPTY));
        fresh.put(loop.var(), v);
      }
    }
    List<Expr> conditions = new ArrayList<>();
    for (Expr condition : Guard.conjuncts(block.predicate())) {
      boolean overReduce = Affine.mentions(condition, reduceLoops);
      check.require(
          4,
          !overReduce || !Affine.mentions(condition, spatialLoops),
          "a predicate of block " + blockName + " is about spatial and reduce loops",
          block);
      if (!overReduce) {
        conditions.add(condition);
      }
    }
    // The new block gets variables of its own: each variable belongs to one block.
    Substitution loopsOut = Substitution.ofVars(fresh);
    Map<Var, Expr> own = new HashMap<>();
    List<IterVar> iterVars = new ArrayList<>();
    for (IterVar iterVar : block.iterVars()) {
      if (!iterVar.isReduce()) {
        Var v = Var.index(iterVar.var().name());
        own.put(iterVar.var(), v);
        iterVars.add(
            new IterVar(v, iterVar.extent(), iterVar.kind(), loopsOut.expr(iterVar.binding())));
      }
    }
    Substitution varsOut = Substitution.ofVars(own);
    String name = Tree.freshName(func, blockName + "_init");
    Expr predicate = Guard.all(conditions);
    Stmt initBlock =
        new Stmt.Block(
            name,
            iterVars,
            predicate == null ? null : loopsOut.expr(predicate),
            List.of(),
            block.writes().stream().map(varsOut::region).toList(),
            null,
            varsOut.stmt(init),
            block.attrs());
    for (Stmt.For loop : loops.reversed()) {
      initBlock = loop.withBody(initBlock);
    }
    Stmt.Block update =
        new Stmt.Block(
            block.name(),
            block.iterVars(),
            block.predicate(),
            block.reads(),
            block.writes(),
            null,
            block.body(),
            block.attrs());
    Stmt.For loop = around.get(at);
    Stmt updated = Tree.replace(loop, block, update);
    return new Result(Tree.replace(func, loop, Stmts.seq(initBlock, updated)), name);
  }
}
