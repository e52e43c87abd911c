package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Forms;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Span;
import dev.warpwright.schedule.analysis.TileIndex;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which instances of a block happen in one iteration of loops around it.
 *
 * @param box of the block's variables, in terms of those loops; a variable that is not there takes
 *     all of its values
 * @param conditions on those loops without which there are no instances
 */
record Instances(Map<Var, Range> box, List<Expr> conditions) {
  static final Instances ALL = new Instances(Map.of(), List.of());

  Instances {
    box = Map.copyOf(box);
    conditions = List.copyOf(conditions);
  }

  /**
   * The instances that find what they read when their block moves to another place: all, unless
   * loops around both places compute a part of it in each iteration. Then there is what the block
   * reads at its old place, and no more.
   *
   * @param from the path to the block
   * @param to the path to the place
   * @param sources what the block reads, also what it accumulates without initialising it
   * @param handedOn those of them that are computed at the place, as much as the block takes there
   * @throws dev.warpwright.schedule.error.ScheduleError of this requirement, if that is no box
   */
  static Instances supplied(
      Check check,
      int requirement,
      List<Stmt> from,
      List<Stmt> to,
      Set<Buffer> sources,
      Set<Buffer> handedOn) {
    List<Stmt.For> left = Order.loopsOnlyAround(from, to);
    List<Stmt.For> stay = Tree.loops(from).stream().filter(loop -> !left.contains(loop)).toList();
    Set<Buffer> parts =
        stay.isEmpty() ? new HashSet<>() : new HashSet<>(Accesses.written(stay.getFirst()));
    parts.retainAll(sources);
    if (parts.isEmpty()) {
      return ALL;
    }
    Stmt.Block block = (Stmt.Block) from.getLast();
    Map<Var, Long> extents = new HashMap<>();
    for (Stmt.For loop : left) {
      Span span = Ranges.of(loop);
      extents.put(loop.var(), span != null && span.lo() == 0 ? span.size() : 0L);
    }
    List<Expr> around = new ArrayList<>();
    List<Expr> inner = new ArrayList<>();
    for (Expr condition : Guard.conjuncts(block.predicate())) {
      (Affine.mentions(condition, extents.keySet()) ? inner : around).add(condition);
    }
    if (handedOn.containsAll(parts)) {
      return new Instances(Map.of(), around);
    }
    Ranges ranges = Tree.ranges(check.func(), from);
    Map<Var, Range> box = new HashMap<>();
    for (IterVar iterVar : block.iterVars()) {
      LinearForm binding = Forms.of(iterVar.binding(), ranges);
      Range run = iterVar.isReduce() ? whole(iterVar) : run(binding, iterVar, extents, ranges);
      if (run == null) {
        throw check.error(
            requirement,
            "block "
                + block.name()
                + " uses a part of "
                + parts.iterator().next().name()
                + " in an iteration of loop "
                + stay.getLast().var()
                + ", and no run of variable "
                + iterVar.var(),
            block);
      }
      box.put(iterVar.var(), run);
    }
    check.require(
        requirement,
        Guard.isAboutExtents(Guard.withPredicate(block, Guard.all(inner)), ranges),
        "a predicate of block "
            + block.name()
            + ", which uses a part of "
            + parts.iterator().next().name()
            + " in an iteration of loop "
            + stay.getLast().var()
            + ", cuts off more than the ends of its extents",
        block);
    return new Instances(box, around);
  }

  private static Range whole(IterVar iterVar) {
    return new Range(Exprs.i32(0), iterVar.extent());
  }

  /** The consecutive values that a variable takes, or null if they are not. */
  private static @Nullable Range run(
      LinearForm binding, IterVar iterVar, Map<Var, Long> extents, Ranges ranges) {
    TileIndex run = TileIndex.of(binding, extents);
    if (run != null && !Exprs.isConst(run.range().extent(), 0)) {
      return run.range();
    }
    if (run != null) {
      // Over a loop with a symbolic extent, from the first value on.
      return Exprs.isConst(run.range().min(), 0) ? whole(iterVar) : null;
    }
    // The quotient or the remainder of a loop that was fused takes consecutive values, too.
    boolean digit =
        binding.terms().size() == 1
            && binding.terms().keySet().iterator().next()
                instanceof Expr.Binary(var op, var _, var _)
            && (op == BinaryOp.DIV || op == BinaryOp.MOD);
    Span span = digit ? ranges.of(binding) : null;
    boolean all =
        span != null
            && span.lo() == 0
            && iterVar.extent() instanceof Expr.IntImm n
            && span.hi() >= n.value() - 1;
    return all ? whole(iterVar) : null;
  }
}
