package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Nest;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Takes a reduction apart: partial results for each iteration of a loop, independent of each other,
 * then a reduction of those.
 *
 * <pre>{@code
 * for i { for k_o in p { for k_i { block c { init { c[i] = 0 }  c[i] += a[i, k_o*f + k_i] } } } }
 * →   (at k_o)
 * alloc c_rf: [p, …]
 * for i { for k_o in p { for k_i {
 *     block c_rf { init { c_rf[k_o, i] = 0 }  c_rf[k_o, i] += a[i, k_o*f + k_i] } } } }
 * for i { for k_o in p { block c { init { c[i] = 0 }  c[i] += c_rf[k_o, i] } } }
 * }</pre>
 *
 * <p>This, and what is built on it, is the one primitive that changes the order in which numbers
 * are added: results stay the same up to rounding.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The block and the loop exist, and the loop is around the block.
 *   <li>The block is a reduction with an initialisation: one store that adds (also by {@code fma})
 *       or takes the greatest value.
 *   <li>The loops around the block are around it alone, and start at 0.
 *   <li>The loop is serial; it, and every loop that occurs in one index with it, is over reduce
 *       variables and over no spatial one.
 *   <li>No predicate is about the reduction: split by divisors, or {@link Pad} first.
 *   <li>The block writes the element that its spatial variables name, each variable one dimension.
 *   <li>{@code axis}, where the new dimension goes, is between 0 and the rank, and after a symbolic
 *       dimension.
 * </ol>
 */
public final class Rfactor {
  private static final String NAME = "rfactor";

  /** The new function, and the name of the block and buffer of partial results. */
  public record Result(PrimFunc func, String partial) {}

  private final Check check;
  private final PrimFunc func;
  private final List<Stmt> path;
  private final Stmt.Block block;
  private final Stmt.For loop;
  private final int axis;
  private final Stmt.Store store;
  private final ReduceOp op;

  /** The variable of the partial block that numbers the partial results. */
  private final Var part;

  private Rfactor(PrimFunc func, String blockName, Var loopVar, int axis) {
    this.check = new Check(NAME, func);
    this.func = func;
    this.path = check.block(1, blockName);
    this.block = (Stmt.Block) path.getLast();
    this.loop = (Stmt.For) check.loop(1, loopVar).getLast();
    this.axis = axis;
    this.part = Var.index("v" + loopVar.name());
    check.require(
        1,
        Tree.contains(loop, block),
        "loop " + loopVar + " is not around block " + blockName,
        block);
    if (!(block.body() instanceof Stmt.Store only)
        || !(block.init() instanceof Stmt.Store)
        || opOf(only) == null) {
      throw check.error(2, "block " + blockName + " is no sum and no maximum", block);
    }
    this.store = only;
    this.op = java.util.Objects.requireNonNull(opOf(only));
  }

  public static Result apply(PrimFunc func, String blockName, Var loopVar, int axis) {
    return new Rfactor(func, blockName, loopVar, axis).apply();
  }

  private static @org.jspecify.annotations.Nullable ReduceOp opOf(Stmt.Store store) {
    if (store.value() instanceof Expr.Call(var op, List<Expr> args, var type)) {
      return op == MathOp.FMA && isSelf(args.get(2), store) ? ReduceOp.SUM : null;
    }
    if (store.value() instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
        && isSelf(a, store) != isSelf(b, store)) {
      return switch (op) {
        case ADD -> ReduceOp.SUM;
        case MAX -> ReduceOp.MAX;
        default -> null;
      };
    }
    return null;
  }

  private static boolean isSelf(Expr e, Stmt.Store store) {
    return e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
        && buffer == store.buffer()
        && indices.equals(store.indices());
  }

  private Result apply() {
    List<Stmt.For> loops = Tree.loops(path);
    List<Stmt.For> own = Nest.loops(path);
    for (Stmt.For around : loops) {
      check.require(
          3,
          own.stream().anyMatch(l -> l == around),
          "loop " + around.var() + " is not around block " + block.name() + " alone",
          around);
      check.fromZero(3, around);
    }
    check.serial(4, loop);
    for (Expr condition : Guard.conjuncts(block.predicate())) {
      for (Stmt.For around : loops) {
        check.require(
            5,
            Reorder.isSpatial(block, around.var())
                || !Affine.mentions(condition, Set.of(around.var())),
            "a predicate of block " + block.name() + " is about the reduction",
            block);
      }
    }
    requireNamed();
    Buffer target = store.buffer();
    check.require(
        7,
        axis >= 0 && axis <= target.rank(),
        "there is no place " + axis + " for a dimension of " + target.name(),
        block);
    check.require(
        7,
        axis > 0 || target.hasConstantShape(),
        "the first extent of " + target.name() + " is symbolic and stays first",
        block);

    String name = Tree.freshName(func, target.name() + "_rf");
    List<Expr> shape = new ArrayList<>(target.shape());
    shape.add(axis, loop.extent());
    Buffer partial = Buffer.of(name, target.dtype(), Scope.GLOBAL, shape);
    Stmt first = Tree.replace(loops.getFirst(), block, partialBlock(name, partial, loops));
    Stmt both = Stmts.alloc(List.of(partial), Stmts.seq(first, sum(partial)));
    return new Result(Tree.replace(func, loops.getFirst(), both), name);
  }

  private void requireNamed() {
    Set<Expr> named = new java.util.HashSet<>();
    for (Expr index : store.indices()) {
      check.require(
          6,
          block.iterVars().stream().anyMatch(v -> v.var() == index && !v.isReduce())
              && named.add(index),
          "block " + block.name() + " does not write the element that its variables name",
          block);
    }
    check.require(
        6,
        named.size() == block.iterVars().stream().filter(v -> !v.isReduce()).count(),
        "block " + block.name() + " has a spatial variable that names no dimension",
        block);
  }

  // --- partial results

  private Stmt.Block partialBlock(String name, Buffer partial, List<Stmt.For> loops) {
    List<IterVar> iterVars = new ArrayList<>();
    Map<Var, Expr> renamed = new HashMap<>();
    Map<Var, Var> steps = new LinkedHashMap<>();
    boolean found = false;
    iterVars.add(new IterVar(part, loop.extent(), IterVar.Kind.SPATIAL, loop.var()));
    for (IterVar iterVar : block.iterVars()) {
      if (!Affine.mentions(iterVar.binding(), Set.of(loop.var()))) {
        Var v = Var.index(iterVar.var().name());
        renamed.put(iterVar.var(), v);
        iterVars.add(new IterVar(v, iterVar.extent(), iterVar.kind(), iterVar.binding()));
        continue;
      }
      found = true;
      Map<Var, Expr> places = new HashMap<>(Map.of(loop.var(), part));
      for (Stmt.For other : loops) {
        if (Affine.mentions(iterVar.binding(), Set.of(other.var()))) {
          requireReduceOnly(other);
          if (other != loop) {
            places.put(
                other.var(), steps.computeIfAbsent(other.var(), v -> Var.index("v" + v.name())));
          }
        }
      }
      renamed.put(iterVar.var(), Substitution.ofVars(places).expr(iterVar.binding()));
    }
    check.require(
        4, found, "loop " + loop.var() + " is over no variable of block " + block.name(), loop);
    for (Stmt.For other : loops) {
      Var step = steps.get(other.var());
      if (step != null) {
        iterVars.add(new IterVar(step, other.extent(), IterVar.Kind.REDUCE, other.var()));
      }
    }
    boolean reduces = iterVars.stream().anyMatch(IterVar::isReduce);
    Substitution bound = Substitution.ofVars(renamed);
    List<Expr> at = new ArrayList<>(store.indices().stream().map(bound::expr).toList());
    at.add(axis, part);
    Expr identity = op.identity(store.value().type());
    Expr self = reduces ? new Expr.Load(partial, at) : identity;
    Expr value = bound.expr(withSelf(self));
    Region write = new Region(partial, at.stream().map(Range::at).toList());
    return new Stmt.Block(
        name,
        iterVars,
        block.predicate(),
        block.reads().stream().map(bound::region).toList(),
        List.of(write),
        reduces ? new Stmt.Store(partial, at, identity) : null,
        new Stmt.Store(partial, at, value),
        block.attrs());
  }

  private void requireReduceOnly(Stmt.For other) {
    for (IterVar iterVar : block.iterVars()) {
      check.require(
          4,
          iterVar.isReduce() || !Affine.mentions(iterVar.binding(), Set.of(other.var())),
          "loop " + other.var() + " is over spatial variables",
          other);
    }
  }

  /** The value with something else in the place of the element itself. */
  private Expr withSelf(Expr self) {
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        return isSelf(e, store) ? self : super.expr(e);
      }
    }.expr(store.value());
  }

  // --- their sum

  private Stmt sum(Buffer partial) {
    Buffer target = store.buffer();
    List<IterVar> iterVars = new ArrayList<>();
    Map<Var, Expr> renamed = new HashMap<>();
    List<Expr> at = new ArrayList<>();
    for (Expr index : store.indices()) {
      for (IterVar iterVar : block.iterVars()) {
        if (iterVar.var() == index) {
          Var v = Var.index(iterVar.var().name());
          renamed.put(iterVar.var(), v);
          at.add(v);
          Var loopVar = Var.index(iterVar.var().name());
          iterVars.add(new IterVar(v, iterVar.extent(), IterVar.Kind.SPATIAL, loopVar));
        }
      }
    }
    Var k = Var.index("v" + loop.var().name());
    iterVars.add(new IterVar(k, loop.extent(), IterVar.Kind.REDUCE, Var.index(loop.var().name())));
    List<Expr> from = new ArrayList<>(at);
    from.add(axis, k);
    Expr self = new Expr.Load(target, at);
    Stmt body = new Stmt.Store(target, at, op.combine(self, new Expr.Load(partial, from)));
    Stmt init = Substitution.ofVars(renamed).stmt(java.util.Objects.requireNonNull(block.init()));
    Stmt nest =
        new Stmt.Block(
            block.name(),
            iterVars,
            null,
            List.of(new Region(partial, from.stream().map(Range::at).toList())),
            List.of(new Region(target, at.stream().map(Range::at).toList())),
            init,
            body,
            Attrs.NONE);
    for (IterVar iterVar : iterVars.reversed()) {
      nest = Stmt.For.of(ForKind.SERIAL, (Var) iterVar.binding(), iterVar.extent(), nest);
    }
    return nest;
  }
}
