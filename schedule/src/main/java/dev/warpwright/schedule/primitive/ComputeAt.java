package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Hull;
import dev.warpwright.schedule.analysis.Nest;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.SpotRewriter;
import dev.warpwright.schedule.analysis.Steps;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Moves a producer under a loop of its consumers, to compute there what they read in one iteration.
 *
 * <pre>{@code
 * alloc h { for i in n { h[i] = f(i) }
 *           for i_o in n/4 { for i_i in 4 { y[i_o*4+i_i] = g(h[i_o*4+i_i]) } } }
 * →
 * for i_o in n/4 { alloc h { for i in 4 { h[i_o*4+i] = f(i_o*4+i) }
 *                            for i_i in 4 { y[i_o*4+i_i] = g(h[i_o*4+i_i]) } } }
 * }</pre>
 *
 * <p>The producer gets new loops: one for each dimension of its buffer over the box that covers
 * what is read, or several that skip the gaps between what is read ({@link Steps}), then one for
 * each reduce variable. Where the box may reach beyond the buffer, or beyond what the producer
 * finds to read in this iteration, a predicate is added. The allocation moves along; {@link
 * Compact} makes it as small as the box.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The block and the loop exist.
 *   <li>The loop is not around the block, and the block is alone in its loop nest.
 *   <li>The block writes one buffer, an intermediate that no other statement writes.
 *   <li>It writes the element that its spatial variables name, each variable one dimension.
 *   <li>All readers of the buffer are inside the loop, in a part of the program after the block.
 *   <li>What the block reads is computed outside its loops, and not written from the block on.
 *       Where an iteration of a loop around computes just a part of it, the block at its old place
 *       takes a box of each variable's values in it, cut off by nothing but the ends of the
 *       extents.
 *   <li>Parallel loops of the result are independent.
 * </ol>
 */
public final class ComputeAt {
  private static final String NAME = "computeAt";

  private ComputeAt() {}

  public static PrimFunc apply(PrimFunc func, String blockName, Var loopVar) {
    Check check = new Check(NAME, func);
    List<Stmt> blockPath = check.block(1, blockName);
    List<Stmt> loopPath = check.loop(1, loopVar);
    Stmt.Block block = (Stmt.Block) blockPath.getLast();
    Stmt.For loop = (Stmt.For) loopPath.getLast();
    check.require(
        2,
        !Tree.contains(loop, block),
        "loop " + loopVar + " is around block " + blockName + " already",
        block);
    Stmt nest = Nest.of(blockPath);

    Set<Buffer> written = Accesses.written(block);
    check.require(
        3, written.size() == 1, "block " + blockName + " does not write one buffer", block);
    Buffer buffer = written.iterator().next();
    Stmt.Alloc alloc = (Stmt.Alloc) check.alloc(3, buffer).getLast();
    List<Access> all = Accesses.of(func.body(), buffer);
    check.require(
        3,
        all.stream().noneMatch(a -> a.isWrite() && a.leaf() != block),
        "another statement writes " + buffer.name(),
        block);
    List<IterVar> dimensions = dimensions(check, block);

    List<Access> reads = Accesses.of(loop.body(), buffer);
    check.require(
        5,
        !reads.isEmpty()
            && all.stream()
                .allMatch(a -> a.leaf() == block || Tree.contains(loop.body(), a.leaf())),
        "not all readers of " + buffer.name() + " are inside loop " + loopVar,
        loop);
    Order order = Order.of(func);
    check.require(
        5,
        order.isBefore(block, loop),
        "loop " + loopVar + " comes before block " + blockName,
        loop);
    Set<Buffer> sources = Accesses.read(block);
    sources.remove(buffer);
    order.requireUnchangedAfter(check, 6, block, sources);
    order.requireSources(check, 6, blockPath, loopPath, sources);

    Ranges ranges = Tree.ranges(func, loopPath);
    List<@Nullable Steps> steps = new ArrayList<>();
    for (int d = 0; d < buffer.rank(); d++) {
      steps.add(Steps.of(reads, d, ranges));
    }
    Instances supplied = Instances.supplied(check, 6, blockPath, loopPath, sources, Set.of());
    Stmt producer =
        NewNest.over(block, dimensions, Hull.of(reads, ranges).ranges(), steps, supplied, ranges);
    Stmt.For placed =
        loop.withBody(
            Tree.insertBefore(
                loop.body(), s -> Accesses.reads(s, buffer), List.of(buffer), producer));
    Stmt body =
        new SpotRewriter(alloc, loop, nest) {
          @Override
          public Stmt stmt(Stmt s) {
            if (s == alloc) {
              return stmt(alloc.body());
            }
            if (s == loop) {
              return placed;
            }
            return s == nest ? Stmt.Seq.EMPTY : super.stmt(s);
          }
        }.stmt(func.body());
    return check.parallelLoopsIndependent(7, func.withBody(Tree.tidy(body)));
  }

  /** For each dimension of the buffer the iteration variable that names it. */
  private static List<IterVar> dimensions(Check check, Stmt.Block block) {
    List<IterVar> dimensions = new ArrayList<>();
    check.require(
        4, block.writes().size() == 1, "block " + block.name() + " has several writes", block);
    for (Range range : block.writes().getFirst().ranges()) {
      IterVar named = null;
      for (IterVar iterVar : block.iterVars()) {
        if (iterVar.var() == range.min()) {
          named = iterVar;
        }
      }
      if (named == null || !range.isPoint() || named.isReduce() || dimensions.contains(named)) {
        throw check.error(
            4,
            "block " + block.name() + " does not write the element that its variables name",
            block);
      }
      dimensions.add(named);
    }
    check.require(
        4,
        block.iterVars().stream().filter(v -> !v.isReduce()).count() == dimensions.size(),
        "block " + block.name() + " has a spatial variable that names no dimension",
        block);
    return dimensions;
  }
}
