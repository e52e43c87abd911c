package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Forms;
import dev.warpwright.schedule.analysis.Hull;
import dev.warpwright.schedule.analysis.Nest;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.TileIndex;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes one block of a loop nest, whose instances are then tiles.
 *
 * <pre>{@code
 * for i_o { for i_i in 4 { block c(i = i_o * 4 + i_i) { c[i] = f(i) } } }
 * →   (at i_i)
 * for i_o { block c(i_t = i_o) { for i_i in 4 { block c_inner(i = i_t * 4 + i_i) { … } } } }
 * }</pre>
 *
 * <p>The outer block keeps the name; each of its variables counts tiles of a variable of the inner
 * one. The initialisation of a reduction that goes on outside becomes one of the whole tile. {@link
 * Tensorize} of the outer block takes exactly the loops inside.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The loop exists.
 *   <li>It is around one block and loops of it, nothing else; the block is no blockized one.
 *   <li>The loops inside are serial, start at 0 and have constant extents.
 *   <li>They move each variable of the block through a run of values, and the loops outside move it
 *       by whole runs.
 *   <li>So do they with each predicate.
 * </ol>
 */
public final class Blockize {
  private static final String NAME = "blockize";

  private final Check check;
  private final Stmt.Block block;
  private final Ranges ranges;
  private final Map<Var, Long> inside = new LinkedHashMap<>();
  private final List<IterVar> outer = new ArrayList<>();
  private final List<IterVar> inner = new ArrayList<>();

  /** For each variable of the outer block what it stands for, in terms of the loops outside. */
  private final Map<Var, LinearForm> tiles = new LinkedHashMap<>();

  private Blockize(Check check, Stmt.Block block, Ranges ranges) {
    this.check = check;
    this.block = block;
    this.ranges = ranges;
  }

  public static PrimFunc apply(PrimFunc func, Var loopVar) {
    Check check = new Check(NAME, func);
    Stmt.For loop = (Stmt.For) check.loop(1, loopVar).getLast();
    List<Stmt.Block> blocks = Tree.blocks(loop);
    check.require(2, blocks.size() == 1, "loop " + loopVar + " is not around one block", loop);
    Stmt.Block block = blocks.getFirst();
    List<Stmt> path = check.block(2, block.name());
    List<Stmt.For> loops = Nest.loops(path);
    int first = loops.indexOf(loop);
    check.require(
        2, first >= 0, "loop " + loopVar + " is around more than block " + block.name(), loop);
    check.require(
        2,
        Tree.allLoops(block.body()).isEmpty(),
        "block " + block.name() + " is blockized already",
        block);
    Blockize blockize = new Blockize(check, block, Tree.ranges(func, path));
    Stmt whole = blockize.whole(func, loops.subList(first, loops.size()));
    return Tree.replace(func, loop, whole);
  }

  private Stmt whole(PrimFunc func, List<Stmt.For> loops) {
    for (Stmt.For loop : loops) {
      check.serial(3, loop);
      check.fromZero(3, loop);
      LoopKind.constantExtent(check, 3, loop);
      inside.put(loop.var(), ((Expr.IntImm) loop.extent()).value());
    }
    block.iterVars().forEach(this::divide);
    List<Expr> outerConditions = new ArrayList<>();
    List<Expr> innerConditions = new ArrayList<>();
    for (Expr condition : Guard.conjuncts(block.predicate())) {
      if (Affine.mentions(condition, inside.keySet())) {
        innerConditions.add(inner(condition));
      } else {
        outerConditions.add(condition);
      }
    }
    boolean goesOn = outer.stream().anyMatch(IterVar::isReduce);
    String innerName = Tree.freshName(func, block.name() + "_inner");
    Stmt body =
        new Stmt.Block(
            innerName,
            inner,
            Guard.all(innerConditions),
            block.reads(),
            block.writes(),
            goesOn ? null : block.init(),
            block.body(),
            Attrs.NONE);
    for (Stmt.For loop : loops.reversed()) {
      body = loop.withBody(body);
    }
    Stmt init = null;
    if (goesOn && block.init() != null) {
      String name = Tree.freshName(func, block.name() + "_inner_init");
      init = initialisation(block.init(), name, loops, innerConditions);
    }
    return new Stmt.Block(
        block.name(),
        outer,
        Guard.all(outerConditions),
        regions(body, false),
        regions(body, true),
        init,
        body,
        block.attrs());
  }

  /** Divides a variable into the number of a tile and the place inside. */
  private void divide(IterVar iterVar) {
    LinearForm binding = Forms.of(iterVar.binding(), ranges);
    LinearForm moving = binding.part(atom -> Affine.mentions(atom, inside.keySet()));
    TileIndex run = TileIndex.of(moving, inside);
    LinearForm rest = binding.minus(moving);
    if (run == null || !(run.range().extent() instanceof Expr.IntImm size)) {
      throw check.error(
          4,
          "variable "
              + iterVar.var()
              + " of block "
              + block.name()
              + " does not run through consecutive values inside",
          block);
    }
    LinearForm tile = divided(rest, size.value());
    check.require(
        4,
        tile.times(size.value()).equals(rest),
        "variable "
            + iterVar.var()
            + " of block "
            + block.name()
            + " is not moved by whole tiles of "
            + size.value()
            + " outside",
        block);
    LinearForm place = moving;
    if (!tile.isConstant(0)) {
      Var t = Var.index(iterVar.var().name() + "_t");
      Expr extent = Exprs.ceilDiv(iterVar.extent(), size.value());
      outer.add(new IterVar(t, extent, iterVar.kind(), tile.toExpr()));
      tiles.put(t, tile);
      place = Forms.of(t).times(size.value()).plus(moving);
    }
    inner.add(new IterVar(iterVar.var(), iterVar.extent(), iterVar.kind(), place.toExpr()));
  }

  private static LinearForm divided(LinearForm form, long by) {
    LinearForm quotient = Forms.constant(Math.floorDiv(form.constant(), by));
    for (Map.Entry<Expr, Long> term : form.terms().entrySet()) {
      quotient = quotient.plus(Forms.of(term.getKey()).times(Math.floorDiv(term.getValue(), by)));
    }
    return quotient;
  }

  /** A condition in terms of the outer block's variables instead of the loops outside. */
  private Expr inner(Expr condition) {
    if (condition instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
        && (op == BinaryOp.LT || op == BinaryOp.GE)) {
      LinearForm form = Forms.of(a, ranges);
      LinearForm fixed = form.part(atom -> !Affine.mentions(atom, inside.keySet()));
      for (Map.Entry<Var, LinearForm> tile : tiles.entrySet()) {
        for (Map.Entry<Expr, Long> term : tile.getValue().terms().entrySet()) {
          long factor = fixed.terms().getOrDefault(term.getKey(), 0L) / term.getValue();
          LinearForm scaled = tile.getValue().plus(-tile.getValue().constant()).times(factor);
          if (factor != 0 && scaled.equals(fixed)) {
            LinearForm place = Forms.of(tile.getKey()).plus(-tile.getValue().constant());
            LinearForm all = form.minus(fixed).plus(place.times(factor));
            return new Expr.Binary(op, all.toExpr(), b);
          }
        }
      }
      if (fixed.terms().isEmpty()) {
        return condition;
      }
    }
    throw check.error(
        5, "a predicate of block " + block.name() + " is not about whole tiles", block);
  }

  /** The initialisation of a whole tile, in loops of its own. */
  private Stmt initialisation(Stmt init, String name, List<Stmt.For> loops, List<Expr> conditions) {
    Set<Var> reduce = new HashSet<>();
    outer.stream().filter(IterVar::isReduce).forEach(v -> reduce.add(v.var()));
    List<Stmt.For> spatial = new ArrayList<>();
    Map<Var, Expr> fresh = new HashMap<>();
    for (Stmt.For loop : loops) {
      boolean isSpatial = Reorder.isSpatial(block, loop.var());
      check.require(
          4,
          isSpatial || moves(loop.var(), true) && !moves(loop.var(), false),
          "loop " + loop.var() + " is neither over spatial nor over reduce variables alone",
          loop);
      if (isSpatial) {
        Var v = Var.index(loop.var().name());
        spatial.add(Stmt.For.of(ForKind.SERIAL, v, loop.extent(), Stmt.Seq.EMPTY));
        fresh.put(loop.var(), v);
      } else {
        reduce.add(loop.var());
      }
    }
    List<Expr> own = new ArrayList<>();
    Substitution ofLoops = Substitution.ofVars(fresh);
    for (Expr condition : conditions) {
      boolean overReduce = Affine.mentions(condition, reduce);
      check.require(
          5,
          !overReduce || !Affine.mentions(condition, fresh.keySet()),
          "a predicate of block " + block.name() + " is about spatial and reduce loops",
          block);
      if (!overReduce) {
        own.add(ofLoops.expr(condition));
      }
    }
    Map<Var, Expr> renamed = new HashMap<>();
    List<IterVar> iterVars = new ArrayList<>();
    for (IterVar iterVar : inner) {
      if (!iterVar.isReduce()) {
        Var v = Var.index(iterVar.var().name());
        renamed.put(iterVar.var(), v);
        Expr binding = ofLoops.expr(iterVar.binding());
        iterVars.add(new IterVar(v, iterVar.extent(), iterVar.kind(), binding));
      }
    }
    Substitution ofVars = Substitution.ofVars(renamed);
    Stmt nest =
        new Stmt.Block(
            name,
            iterVars,
            Guard.all(own),
            List.of(),
            block.writes().stream().map(ofVars::region).toList(),
            null,
            ofVars.stmt(init),
            Attrs.NONE);
    for (Stmt.For loop : spatial.reversed()) {
      nest = loop.withBody(nest);
    }
    return nest;
  }

  private boolean moves(Var loopVar, boolean reduce) {
    return block.iterVars().stream()
        .anyMatch(v -> v.isReduce() == reduce && Affine.mentions(v.binding(), Set.of(loopVar)));
  }

  private List<Region> regions(Stmt body, boolean written) {
    Map<Buffer, List<Access>> byBuffer = new LinkedHashMap<>();
    Set<Buffer> writes = Accesses.written(body);
    for (Access access : Accesses.of(body)) {
      if (access.isWrite() == written && (written || !writes.contains(access.buffer()))) {
        byBuffer.computeIfAbsent(access.buffer(), b -> new ArrayList<>()).add(access);
      }
    }
    return byBuffer.values().stream().map(accesses -> Hull.of(accesses, Ranges.NONE)).toList();
  }

  /** The inner block of a blockized one; null if the block is a leaf. */
  static Stmt.@Nullable Block innerOf(Stmt.Block block) {
    return inLoops(block.body());
  }

  private static Stmt.@Nullable Block inLoops(Stmt s) {
    Stmt at = s;
    while (at instanceof Stmt.For loop) {
      at = loop.body();
    }
    return at instanceof Stmt.Block block ? block : null;
  }

  /** The variable of a block, or of the one inside, that names a dimension of what it writes. */
  static @Nullable IterVar named(Stmt.Block block, Buffer buffer, int dimension) {
    Stmt.Block inner = innerOf(block);
    Stmt.Block leaf = inner == null ? block : inner;
    for (Region region : leaf.writes()) {
      Expr index = region.ranges().get(dimension).min();
      for (IterVar iterVar : leaf.iterVars()) {
        if (region.buffer() == buffer && iterVar.var() == index) {
          return iterVar;
        }
      }
    }
    return null;
  }

  /** A blockized block as it was before: loops around one leaf. */
  static Stmt dissolved(Stmt.Block block, Stmt.Block inner) {
    Substitution bound = Substitution.ofVars(Accesses.bindings(block));
    List<Expr> conditions = new ArrayList<>(Guard.conjuncts(block.predicate()));
    Guard.conjuncts(inner.predicate()).forEach(condition -> conditions.add(bound.expr(condition)));
    Stmt init = inner.init();
    if (block.init() != null && inLoops(block.init()) instanceof Stmt.Block tile) {
      Map<Var, Expr> renamed = new HashMap<>();
      List<IterVar> spatial = inner.iterVars().stream().filter(v -> !v.isReduce()).toList();
      for (int i = 0; i < spatial.size(); i++) {
        renamed.put(tile.iterVars().get(i).var(), spatial.get(i).var());
      }
      init = Substitution.ofVars(renamed).stmt(tile.body());
    }
    List<IterVar> iterVars = new ArrayList<>();
    for (IterVar v : inner.iterVars()) {
      iterVars.add(new IterVar(v.var(), v.extent(), v.kind(), bound.expr(v.binding())));
    }
    Stmt leaf =
        new Stmt.Block(
            block.name(),
            iterVars,
            Guard.all(conditions),
            inner.reads(),
            inner.writes(),
            init,
            inner.body(),
            block.attrs());
    return Tree.replace(block.body(), inner, leaf);
  }
}
