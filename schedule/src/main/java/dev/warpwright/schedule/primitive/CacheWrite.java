package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Hull;
import dev.warpwright.schedule.analysis.Nest;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Tree;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Lets a block write to a buffer of its own, which is copied to the one that it wrote before.
 *
 * <pre>{@code
 * for i in n { y[i] = f(i) }
 * →
 * alloc y_shared: shared
 * for i in n { y_shared[i] = f(i) }
 * for i in n { y[i] = y_shared[i] }
 * }</pre>
 *
 * <p>The block keeps its name; the copying block is called after the buffer, {@code y_write}. To
 * tile both, tile the copying block and {@link ComputeAt} the other.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The block exists.
 *   <li>It writes one buffer, which no other statement writes.
 *   <li>Iterations of parallel loops do not share the new buffer, if it is on chip.
 *   <li>All of the buffer is written: it was not made smaller around guarded accesses. Under loops
 *       that are around more than the block, the block writes a box, without a predicate.
 *   <li>Loops that carry the reduction of the block are around it alone.
 * </ol>
 */
public final class CacheWrite {
  private static final String NAME = "cacheWrite";

  private CacheWrite() {}

  /** The new function, the name of the copying block and of the new buffer. */
  public record Result(PrimFunc func, String copyBlock, String buffer) {}

  public static Result apply(PrimFunc func, String blockName, Scope scope) {
    Check check = new Check(NAME, func);
    List<Stmt> path = check.block(1, blockName);
    Stmt block = path.getLast();
    Set<Buffer> written = Accesses.written(block);
    check.require(
        2, written.size() == 1, "block " + blockName + " does not write one buffer", block);
    Buffer buffer = written.iterator().next();
    for (Access access : Accesses.of(func.body(), buffer)) {
      check.require(
          2,
          !access.isWrite() || access.leaf() == block,
          "another statement writes " + buffer.name(),
          access.leaf());
    }
    check.allWritten(4, buffer);
    Stmt nest = Nest.of(path);
    List<Stmt> around = path.subList(0, Tree.indexOn(path, nest));
    Ranges ranges = Tree.ranges(func, around);
    if (block instanceof Stmt.Block reduction) {
      for (Stmt.For loop : Tree.loops(around)) {
        check.require(
            5,
            !reduction.isReduction() || Reorder.isSpatial(reduction, loop.var()),
            "loop " + loop.var() + " around the copy would carry the reduction of " + blockName,
            loop);
      }
    }
    check.require(
        4,
        Tree.loops(around).isEmpty() || !(block instanceof Stmt.Block b && Guard.isGuarded(b)),
        "block " + blockName + " is guarded in a tile: make the copy before tiling",
        block);
    String bufferName = Tree.freshName(func, buffer.name() + "_" + scope.text().replace('.', '_'));
    String copyName = Tree.freshName(func, buffer.name() + "_write");
    Buffer cached = buffer.withLayout(null).withScope(scope).withName(bufferName);
    List<Access> writes = Accesses.of(nest, buffer).stream().filter(Access::isWrite).toList();
    Region box = Tree.loops(around).isEmpty() ? Region.whole(buffer) : Hull.of(writes, ranges);
    for (Access write : writes) {
      check.require(
          4,
          Tree.loops(around).isEmpty() || Hull.isFull(write, box, ranges),
          "what block " + blockName + " writes in an iteration of the loops around it is no box",
          block);
    }
    Stmt computing = Substitution.ofBuffers(Map.of(buffer, cached)).stmt(nest);
    Stmt copying = NewNest.copy(copyName, buffer, cached, box, ranges);
    // In scope up to the end of the body around, so that the copy can be moved there.
    List<Stmt.For> loops = Tree.loops(around);
    Stmt body = loops.isEmpty() ? func.body() : loops.getLast().body();
    Stmt scoped =
        Tree.insertBefore(body, s -> Tree.contains(s, nest), List.of(cached), Stmt.Seq.EMPTY);
    Stmt both = Tree.tidy(Tree.replace(scoped, nest, Stmts.seq(computing, copying)));
    PrimFunc result = Tree.replace(func, body, both);
    return new Result(check.parallelLoopsIndependent(3, result), copyName, bufferName);
  }
}
