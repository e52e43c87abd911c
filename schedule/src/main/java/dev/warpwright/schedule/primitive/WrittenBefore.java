package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Forms;
import dev.warpwright.schedule.analysis.Hull;
import dev.warpwright.schedule.analysis.Iteration;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Span;
import dev.warpwright.schedule.analysis.Tree;
import java.util.List;

/**
 * What a tile may read without the predicate of its block: elements that only instances left out
 * would have asked for have a value only if something writes them all the same.
 */
final class WrittenBefore {
  private WrittenBefore() {}

  /**
   * Whether a tile finds a value in every element of a buffer that these indices name in its loops,
   * as far as they are inside the buffer: in a parameter that is only read, and where one statement
   * without a predicate writes all of a box around them, earlier in the same iteration of the loops
   * around both.
   */
  static boolean holds(PrimFunc func, Tile tile, Buffer buffer, List<Expr> indices) {
    List<Access> all = Accesses.of(func.body(), buffer);
    if (func.params().contains(buffer) && all.stream().noneMatch(Access::isWrite)) {
      return true;
    }
    List<Stmt> reader = Tree.pathTo(func.body(), tile.block());
    if (reader == null) {
      return false;
    }
    List<Iteration> loops =
        tile.loops().stream()
            .map(loop -> new Iteration(loop.var(), loop.min(), loop.extent()))
            .toList();
    Access read = new Access(tile.block(), Accesses.point(buffer, indices), false, loops);
    Region wanted = Hull.of(List.of(read), tile.ranges());
    for (Access access : all) {
      if (access.leaf() == tile.block() && access.isWrite()) {
        // What comes now is written later than it is read.
        return false;
      }
      if (access.isWrite() && fills(func, access, reader, wanted, tile.ranges())) {
        return true;
      }
    }
    return false;
  }

  /** Whether the writer touches all of the box in one iteration of the loops around both. */
  private static boolean fills(
      PrimFunc func, Access access, List<Stmt> reader, Region wanted, Ranges ranges) {
    Stmt leaf = access.leaf();
    if (leaf == reader.getLast() || leaf instanceof Stmt.Block block && Guard.isGuarded(block)) {
      return false;
    }
    List<Stmt> writer = Tree.pathTo(func.body(), leaf);
    if (writer == null || !always(writer)) {
      return false;
    }
    List<Stmt.For> around = Tree.loops(reader);
    List<Iteration> own =
        access.inner().stream()
            .filter(i -> around.stream().noneMatch(loop -> loop.var() == i.variable()))
            .toList();
    if (own.stream().anyMatch(i -> i.span() == null)) {
      return false;
    }
    Access alone = new Access(leaf, access.region(), true, own);
    Region box = Hull.of(List.of(alone), ranges);
    return Hull.isFull(alone, box, ranges) && covers(box, wanted, ranges.with(own));
  }

  private static boolean always(List<Stmt> path) {
    return path.stream()
        .noneMatch(s -> s instanceof Stmt.If || s instanceof Stmt.While || s instanceof Stmt.Let);
  }

  /** Whether each dimension of a box holds another one's, or all that the buffer has. */
  private static boolean covers(Region box, Region wanted, Ranges ranges) {
    for (int d = 0; d < box.ranges().size(); d++) {
      Range whole = new Range(Exprs.i32(0), box.buffer().shape().get(d));
      if (!covers(box.ranges().get(d), wanted.ranges().get(d), ranges)
          && !covers(box.ranges().get(d), whole, ranges)) {
        return false;
      }
    }
    return true;
  }

  private static boolean covers(Range box, Range wanted, Ranges ranges) {
    LinearForm before = Forms.of(wanted.min(), ranges).minus(Forms.of(box.min(), ranges));
    LinearForm after =
        Forms.of(box.extent(), ranges).minus(before).minus(Forms.of(wanted.extent(), ranges));
    return atLeastZero(before, ranges) && atLeastZero(after, ranges);
  }

  private static boolean atLeastZero(LinearForm form, Ranges ranges) {
    Span span = ranges.of(form);
    return span != null && span.lo() >= 0;
  }
}
