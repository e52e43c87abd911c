package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Hull;
import dev.warpwright.schedule.analysis.Independence;
import dev.warpwright.schedule.analysis.Nest;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Moves a consumer under a loop of its producers, to use there what one iteration computes.
 *
 * <pre>{@code
 * alloc h { for i_o in n/4 { for i_i in 4 { h[i_o*4+i_i] = f(i_o*4+i_i) } }
 *           for i in n { y[i] = g(h[i]) } }
 * →
 * alloc h { for i_o in n/4 { for i_i in 4 { h[i_o*4+i_i] = f(i_o*4+i_i) }
 *                            for i in 4 { y[i_o*4+i] = g(h[i_o*4+i]) } } }
 * }</pre>
 *
 * <p>The consumer gets new loops at the end of the given one: one for each spatial variable, over
 * what the iteration computes (over all values where the variable names no dimension of what is
 * computed), then one for each reduce variable. Where the box may reach beyond the consumer's own,
 * or beyond what else it finds to read, a predicate is added. An intermediate that is not used
 * outside of the loop any more is allocated inside it.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The block and the loop exist.
 *   <li>The loop is not around the block, and comes before it.
 *   <li>The block reads what the loop computes, each dimension by a variable of its own.
 *   <li>One iteration computes a dense box of it, with constant extents, and all of the dimensions
 *       that the block reduces over; all iterations compute all that the block reads. Predicates
 *       only cut off what is outside of the extents of the variables.
 *   <li>Iterations (of the loop and of those around it that are not around the block) compute
 *       different elements: none accumulates.
 *   <li>Nothing that comes in between, or in the loop, touches what the block writes, or writes
 *       what else it reads; its buffers are allocated around the loop. Where an iteration of a loop
 *       around computes just a part of what else it reads (or accumulates), the block at its old
 *       place takes a box of each variable's values in it, cut off by nothing but the ends of the
 *       extents.
 *   <li>Parallel loops of the result are independent.
 * </ol>
 */
public final class ReverseComputeAt {
  private static final String NAME = "reverseComputeAt";

  private final Check check;
  private final PrimFunc func;
  private final List<Stmt> blockPath;
  private final List<Stmt> loopPath;
  private final Stmt.Block block;
  private final Stmt.For loop;
  private final Ranges ranges;

  private ReverseComputeAt(Check check, PrimFunc func, String blockName, Var loopVar) {
    this.check = check;
    this.func = func;
    this.blockPath = check.block(1, blockName);
    this.loopPath = check.loop(1, loopVar);
    this.block = (Stmt.Block) blockPath.getLast();
    this.loop = (Stmt.For) loopPath.getLast();
    this.ranges = Tree.ranges(func, loopPath);
  }

  public static PrimFunc apply(PrimFunc func, String blockName, Var loopVar) {
    return new ReverseComputeAt(new Check(NAME, func), func, blockName, loopVar).apply();
  }

  private PrimFunc apply() {
    Order order = Order.of(func);
    check.require(
        2,
        !Tree.contains(loop, block) && order.isBefore(loop, block),
        "loop " + loop.var() + " does not come before block " + block.name(),
        block);
    Set<Buffer> produced = Accesses.written(loop);
    produced.retainAll(Accesses.read(block));
    produced.removeAll(Accesses.written(block));
    check.require(
        3,
        !produced.isEmpty(),
        "block " + block.name() + " reads nothing that loop " + loop.var() + " computes",
        block);
    produced.forEach(this::requireFinished);
    order.requireNothingInBetween(check, 6, blockPath, loopPath, produced);

    Map<Var, Range> known = new HashMap<>();
    for (Buffer buffer : produced) {
      take(buffer, box(buffer), known);
    }
    List<IterVar> spatial = block.iterVars().stream().filter(v -> !v.isReduce()).toList();
    List<Range> box = new ArrayList<>();
    for (IterVar iterVar : spatial) {
      box.add(known.getOrDefault(iterVar.var(), new Range(Exprs.i32(0), iterVar.extent())));
    }
    Set<Buffer> sources = Accesses.read(block);
    if (block.init() != null) {
      sources.removeAll(Accesses.written(block));
    }
    Instances supplied = Instances.supplied(check, 6, blockPath, loopPath, sources, produced);
    Stmt consumer = NewNest.over(block, spatial, box, supplied, ranges);
    Stmt.For placed = loop.withBody(Stmts.seq(loop.body(), consumer));
    Stmt body = Tree.replace(func.body(), Nest.of(blockPath), Stmt.Seq.EMPTY);
    body = Tree.tidy(Tree.replace(body, loop, placed));
    PrimFunc result = func.withBody(body);
    for (Buffer buffer : produced) {
      result = sink(result, buffer);
    }
    return check.parallelLoopsIndependent(7, result);
  }

  /** That after an iteration its elements have their values. */
  private void requireFinished(Buffer buffer) {
    for (Stmt.For around : Order.loopsOnlyAround(loopPath, blockPath)) {
      List<Stmt> path = check.loop(1, around.var());
      check.require(
          5,
          Independence.apart(around, buffer, Tree.ranges(func, path)),
          "iterations of loop " + around.var() + " compute the same elements of " + buffer.name(),
          around);
    }
  }

  /** What one iteration computes of a buffer. */
  private Region box(Buffer buffer) {
    List<Access> writes =
        Accesses.of(loop.body(), buffer).stream().filter(Access::isWrite).toList();
    Region box = Hull.of(writes, ranges);
    for (Access write : writes) {
      if (write.leaf() instanceof Stmt.Block writer) {
        check.require(
            4,
            Guard.isAboutExtents(writer, ranges.with(write.inner())),
            "a predicate of block " + writer.name() + " cuts off more than the ends of its extents",
            writer);
      }
      for (int d = 0; d < buffer.rank(); d++) {
        check.require(
            4,
            box.ranges().get(d).equals(Hull.run(write, d, ranges)),
            "an iteration of loop "
                + loop.var()
                + " does not compute a dense box of "
                + buffer.name(),
            write.leaf());
      }
    }
    return box;
  }

  /** Which values the variables take that name dimensions of a buffer. */
  private void take(Buffer buffer, Region box, Map<Var, Range> known) {
    for (Stmt.Store store : Tree.stores(block)) {
      for (Region read : Accesses.loads(store.value())) {
        if (read.buffer() != buffer) {
          continue;
        }
        Set<Var> named = new HashSet<>();
        for (int d = 0; d < buffer.rank(); d++) {
          IterVar iterVar = iterVar(read.ranges().get(d).min());
          if (iterVar == null || !named.add(iterVar.var())) {
            throw check.error(
                3,
                "block "
                    + block.name()
                    + " does not read the element of "
                    + buffer.name()
                    + " that its variables name",
                block);
          }
          Range range = box.ranges().get(d);
          if (iterVar.isReduce()) {
            check.require(
                4,
                Exprs.isConst(range.min(), 0) && range.extent().equals(iterVar.extent()),
                "an iteration of loop "
                    + loop.var()
                    + " does not compute all that block "
                    + block.name()
                    + " reduces over",
                block);
          } else {
            requireAll(buffer, d, iterVar);
            Range other = known.put(iterVar.var(), range);
            check.require(
                4,
                other == null || other.equals(range),
                "block " + block.name() + " reads boxes that do not agree",
                block);
          }
        }
      }
    }
  }

  /** That the iterations together compute what all values of a variable of the block read. */
  private void requireAll(Buffer buffer, int d, IterVar iterVar) {
    Stmt.For outermost = Order.loopsOnlyAround(loopPath, blockPath).getFirst();
    List<Access> writes = Accesses.of(outermost, buffer).stream().filter(Access::isWrite).toList();
    Range hull = Hull.of(writes, Tree.ranges(func, check.loop(1, outermost.var()))).ranges().get(d);
    for (Access write : writes) {
      IterVar named =
          write.leaf() instanceof Stmt.Block writer ? Blockize.named(writer, buffer, d) : null;
      Expr computed = named != null ? named.extent() : hull.extent();
      check.require(
          4,
          (named != null || Exprs.isConst(hull.min(), 0))
              && (computed.equals(iterVar.extent())
                  || computed instanceof Expr.IntImm all
                      && iterVar.extent() instanceof Expr.IntImm read
                      && all.value() >= read.value()),
          "block "
              + block.name()
              + " reads more of "
              + buffer.name()
              + " than loop "
              + outermost.var()
              + " computes",
          write.leaf());
    }
  }

  private @Nullable IterVar iterVar(Expr index) {
    return block.iterVars().stream().filter(v -> v.var() == index).findFirst().orElse(null);
  }

  /** Allocates an intermediate inside the loop if it is used nowhere else. */
  private PrimFunc sink(PrimFunc result, Buffer buffer) {
    List<Stmt> path = Tree.pathToAlloc(result, buffer);
    List<Stmt> at = Tree.pathToLoop(result, loop.var());
    if (path == null || at == null || !(path.getLast() instanceof Stmt.Alloc alloc)) {
      return result;
    }
    Stmt.For around = (Stmt.For) at.getLast();
    boolean outside =
        Accesses.of(result.body(), buffer).stream()
            .anyMatch(a -> !Tree.contains(around.body(), a.leaf()));
    if (outside || Tree.contains(around, alloc)) {
      return result;
    }
    Stmt inside = around.withBody(new Stmt.Alloc(buffer, around.body()));
    Stmt body = Tree.replace(alloc.body(), around, inside);
    return Tree.replace(result, alloc, body);
  }
}
