package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Forms;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Span;
import dev.warpwright.schedule.analysis.Steps;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Loop nests around one block, over a box. */
final class NewNest {
  private NewNest() {}

  /** {@code for v in box { to[v] = from[v] }}, where v is inside the buffers. */
  static Stmt copy(String name, Buffer to, Buffer from, Region box, Ranges ranges) {
    List<IterVar> iterVars = new ArrayList<>();
    List<Expr> indices = new ArrayList<>();
    for (int d = 0; d < to.rank(); d++) {
      Var v = Var.index("v" + d);
      iterVars.add(new IterVar(v, to.shape().get(d), IterVar.Kind.SPATIAL, v));
      indices.add(v);
    }
    Stmt.Block block =
        new Stmt.Block(
            name,
            iterVars,
            null,
            List.of(Accesses.point(from, indices)),
            List.of(Accesses.point(to, indices)),
            null,
            new Stmt.Store(to, indices, new Expr.Load(from, indices)),
            Attrs.NONE);
    return over(block, iterVars, box.ranges(), Instances.ALL, ranges);
  }

  /**
   * The block in new loops: one for each of its {@code spatial} variables, over the range given for
   * it, then one over each reduce variable. A predicate keeps it inside the variables' extents and
   * among the given instances.
   */
  static Stmt over(
      Stmt.Block block, List<IterVar> spatial, List<Range> box, Instances supplied, Ranges ranges) {
    return over(block, spatial, box, Collections.nCopies(box.size(), null), supplied, ranges);
  }

  /**
   * As {@link #over(Stmt.Block, List, List, Instances, Ranges)}; where there are steps for a
   * dimension, with a loop for each of them instead of one over its range.
   */
  static Stmt over(
      Stmt.Block block,
      List<IterVar> spatial,
      List<Range> box,
      List<@Nullable Steps> steps,
      Instances supplied,
      Ranges ranges) {
    List<IterVar> iterVars = new ArrayList<>(block.iterVars());
    List<Stmt.For> loops = new ArrayList<>();
    List<Expr> conditions = new ArrayList<>();
    for (int d = 0; d < spatial.size(); d++) {
      IterVar iterVar = spatial.get(d);
      LinearForm first = Forms.of(box.get(d).min(), ranges);
      Expr extent = box.get(d).extent();
      LinearForm offset = Forms.constant(0);
      Steps apart = steps.get(d);
      if (apart == null) {
        Var v = Var.index(iterVar.var().name());
        loops.add(Stmt.For.of(ForKind.SERIAL, v, extent, Stmt.Seq.EMPTY));
        offset = Forms.of(v);
      } else {
        for (Steps.Step step : apart.steps()) {
          Var v = Var.index(step.name());
          loops.add(Stmt.For.of(ForKind.SERIAL, v, Exprs.i32(step.count()), Stmt.Seq.EMPTY));
          offset = offset.plus(Forms.of(v).times(step.stride()));
        }
      }
      Expr value = first.plus(offset).toExpr();
      iterVars.set(iterVars.indexOf(iterVar), bound(iterVar, value));
      LinearForm last = first.plus(Forms.of(extent));
      List<Range> bounds = new ArrayList<>();
      bounds.add(new Range(Exprs.i32(0), iterVar.extent()));
      Range there = supplied.box().get(iterVar.var());
      if (there != null && !bounds.contains(there)) {
        bounds.add(there);
      }
      for (Range bound : bounds) {
        LinearForm from = Forms.of(bound.min(), ranges);
        LinearForm to = from.plus(Forms.of(bound.extent(), ranges));
        if (!isNonNegative(first.minus(from), ranges)) {
          conditions.add(new Expr.Binary(BinaryOp.GE, value, from.toExpr()));
        }
        if (!isNonNegative(to.minus(last), ranges)) {
          conditions.add(Exprs.lt(value, to.toExpr()));
        }
      }
    }
    for (int i = 0; i < iterVars.size(); i++) {
      IterVar iterVar = iterVars.get(i);
      if (iterVar.isReduce()) {
        Var v = Var.index(iterVar.var().name());
        iterVars.set(i, bound(iterVar, v));
        loops.add(Stmt.For.of(ForKind.SERIAL, v, iterVar.extent(), Stmt.Seq.EMPTY));
      }
    }
    Stmt.Block bare =
        new Stmt.Block(
            block.name(),
            iterVars,
            null,
            block.reads(),
            block.writes(),
            block.init(),
            block.body(),
            block.attrs());
    Ranges inside = ranges;
    for (Stmt.For loop : loops) {
      inside = inside.with(loop.var(), Ranges.of(loop));
    }
    for (Expr condition : supplied.conditions()) {
      if (!Guard.isAboutExtents(Guard.withPredicate(bare, condition), inside)) {
        conditions.add(condition);
      }
    }
    Stmt nest = Guard.withPredicate(bare, Guard.all(conditions));
    for (Stmt.For loop : loops.reversed()) {
      nest = loop.withBody(nest);
    }
    return nest;
  }

  private static IterVar bound(IterVar iterVar, Expr value) {
    return new IterVar(iterVar.var(), iterVar.extent(), iterVar.kind(), value);
  }

  private static boolean isNonNegative(LinearForm form, Ranges ranges) {
    Span span = ranges.of(form);
    return span != null && span.lo() >= 0;
  }
}
