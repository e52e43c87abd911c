package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Independence;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Tree;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a function has to look like when a schedule starts. From here on each primitive may rely on
 * what the ones before it keep: every point of a block's box is computed, once or again and again
 * with the same result, and predicates exclude only what lies outside the box.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>Names of blocks are unique, and so are names of buffers.
 *   <li>Each iteration variable of a block is bound to a loop of its own, from 0 with its extent,
 *       and there are no other loops around.
 *   <li>Blocks have no predicate.
 *   <li>Blocks contain stores only.
 *   <li>A buffer that a block writes is written by no other statement.
 *   <li>Instances of a block with different spatial variables write different elements, and read
 *       none that another one writes.
 * </ol>
 */
public final class NormalForm {
  private static final String NAME = "schedule";

  private NormalForm() {}

  /** The function, if it is in this form. */
  public static PrimFunc check(PrimFunc func) {
    Check check = new Check(NAME, func);
    Set<String> buffers = new HashSet<>();
    for (Param param : func.params()) {
      check.require(1, buffers.add(param.name()), "two are called " + param.name(), null);
    }
    Set<String> blocks = new HashSet<>();
    Map<Buffer, Stmt> writers = new HashMap<>();
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.Alloc alloc) {
            String name = alloc.buffer().name();
            check.require(1, buffers.add(name), "two buffers are called " + name, s);
          }
          if (s instanceof Stmt.Block block) {
            check.require(1, blocks.add(block.name()), "two blocks are called " + block.name(), s);
            checkBlock(check, block);
          }
        });
    for (Stmt.Block block : Tree.blocks(func.body())) {
      for (Buffer buffer : Accesses.written(block)) {
        check.require(
            5, writers.put(buffer, block) == null, "two blocks write " + buffer.name(), block);
      }
    }
    return func;
  }

  private static void checkBlock(Check check, Stmt.Block block) {
    String name = block.name();
    List<Stmt> path = check.block(1, name);
    Map<Var, Stmt.For> around = new HashMap<>();
    Tree.loops(path).forEach(loop -> around.put(loop.var(), loop));
    for (IterVar iterVar : block.iterVars()) {
      Stmt.For loop = iterVar.binding() instanceof Var v ? around.remove(v) : null;
      check.require(
          2,
          loop != null && Exprs.isConst(loop.min(), 0) && loop.extent().equals(iterVar.extent()),
          "variable " + iterVar.var() + " of block " + name + " is not bound to a loop of its own",
          block);
    }
    check.require(
        2,
        around.isEmpty(),
        "a loop around block " + name + " is over none of its variables",
        block);
    check.require(3, block.predicate() == null, "block " + name + " has a predicate", block);
    checkIndependence(check, block, Tree.loops(path));
    Walk.statements(
        block.body(),
        s ->
            check.require(
                4,
                s instanceof Stmt.Store || s instanceof Stmt.Seq,
                "block " + name + " contains more than stores",
                block));
  }

  private static void checkIndependence(Check check, Stmt.Block block, List<Stmt.For> loops) {
    Set<Var> reduce = new HashSet<>();
    for (IterVar iterVar : block.iterVars()) {
      if (iterVar.isReduce() && iterVar.binding() instanceof Var v) {
        reduce.add(v);
      }
    }
    List<Stmt.For> spatial = loops.stream().filter(l -> !reduce.contains(l.var())).toList();
    Stmt body = block;
    for (Stmt.For loop : loops) {
      body = reduce.contains(loop.var()) ? loop.withBody(body) : body;
    }
    Buffer conflict = Independence.conflict(spatial, body, Ranges.NONE);
    check.require(
        6,
        conflict == null,
        "spatial instances of block "
            + block.name()
            + " depend on each other through "
            + (conflict == null ? "" : conflict.name()),
        block);
  }
}
