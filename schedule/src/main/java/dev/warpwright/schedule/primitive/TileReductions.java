package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Forms;
import dev.warpwright.schedule.analysis.Hull;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.TileIndex;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Recognises matrix products and other reductions. */
final class TileReductions {
  private final Check check;
  private final PrimFunc func;
  private final Tile tile;
  private final Attrs attrs;
  private final Set<Var> reduceVars = new HashSet<>();

  private TileReductions(Check check, PrimFunc func, Tile tile, Attrs attrs) {
    this.check = check;
    this.func = func;
    this.tile = tile;
    this.attrs = attrs;
  }

  static Stmt of(Check check, PrimFunc func, Tile tile, Attrs attrs) {
    return new TileReductions(check, func, tile, attrs).statement();
  }

  private Stmt statement() {
    Stmt.Block block = tile.block();
    for (Stmt.For loop : tile.loops()) {
      boolean spatial = false;
      boolean reduce = false;
      for (IterVar iterVar : block.iterVars()) {
        if (Affine.mentions(iterVar.binding(), Set.of(loop.var()))) {
          spatial |= !iterVar.isReduce();
          reduce |= iterVar.isReduce();
        }
      }
      check.require(
          4,
          !(spatial && reduce),
          "loop " + loop.var() + " is over spatial and reduce variables",
          loop);
      if (reduce) {
        reduceVars.add(loop.var());
      }
    }
    check.require(4, tile.stores().size() == 1, "a reduction with several stores", block);
    Stmt.Store store = tile.stores().getFirst();
    Map<Var, Long> spatial = tile.extents(v -> !reduceVars.contains(v));
    List<TileIndex> target = tile.tile(store.indices(), spatial);
    if (target == null) {
      throw check.error(
          4, "the elements of " + store.buffer().name() + " are not a dense tile", block);
    }
    tile.requireStoresAnywhere(check, 5, store);
    if (tile.init() == null) {
      requireInitialised(store.buffer());
    }
    List<Stmt> stmts = new ArrayList<>();
    if (tile.init() != null) {
      stmts.add(fill(tile.init(), target));
    }
    Stmt product = product(store, target);
    stmts.add(product != null ? product : reduce(store));
    return Stmts.seq(stmts);
  }

  /** That elements outside of the extents have a value, where the statement accumulates there. */
  private void requireInitialised(Buffer sums) {
    List<Stmt> path = Tree.pathToAlloc(func, sums);
    if (path == null || tile.conditions().stream().allMatch(c -> Affine.mentions(c, reduceVars))) {
      return;
    }
    Ranges ranges = Tree.ranges(func, path);
    List<Access> first = new ArrayList<>();
    List<Access> then = new ArrayList<>();
    for (Access access : Accesses.of(path.getLast(), sums)) {
      if (access.isWrite()) {
        (access.leaf() == tile.block() ? then : first).add(access);
      }
    }
    boolean guarded =
        first.stream().anyMatch(a -> a.leaf() instanceof Stmt.Block b && Guard.isGuarded(b));
    check.require(
        5,
        !guarded && !first.isEmpty() && Hull.of(first, ranges).equals(Hull.of(then, ranges)),
        "without its predicate the block accumulates where nothing is initialised: tensorize the"
            + " initialisation first, in the same tiles",
        tile.block());
  }

  private Stmt fill(Stmt.Store init, List<TileIndex> target) {
    Stmt.Block block = tile.block();
    for (IterVar iterVar : block.iterVars()) {
      if (iterVar.isReduce()) {
        LinearForm binding = Forms.of(iterVar.binding());
        check.require(
            4,
            reduceVars.containsAll(loopVars(binding)),
            "the reduction of block "
                + block.name()
                + " goes on in loops around the tile: decompose it first",
            block);
      }
    }
    check.require(
        4,
        init.indices().equals(tile.stores().getFirst().indices()),
        "block " + block.name() + " initialises other elements than it accumulates",
        block);
    return filled(check, tile, init, target, Attrs.NONE);
  }

  /** The fill that a store of a constant is. */
  static Stmt filled(Check check, Tile tile, Stmt.Store init, List<TileIndex> target, Attrs attrs) {
    check.require(
        4,
        init.value() instanceof Expr.FloatImm || init.value() instanceof Expr.IntImm,
        "the initial value is not a constant",
        tile.block());
    return new Stmt.TileFill(TileCopies.region(init.buffer(), target), init.value(), attrs);
  }

  private static Set<Var> loopVars(LinearForm form) {
    Set<Var> vars = new HashSet<>();
    form.terms()
        .keySet()
        .forEach(
            atom ->
                Walk.expressions(
                    atom,
                    e -> {
                      if (e instanceof Var v) {
                        vars.add(v);
                      }
                    }));
    return vars;
  }

  // --- matrix products

  private record Operand(Expr.Load load, List<TileIndex> tile) {}

  private @Nullable Stmt product(Stmt.Store store, List<TileIndex> c) {
    List<Expr> factors = factors(store);
    if (factors == null || c.size() != 2 || (tile.init() != null && !isZero(tile.init().value()))) {
      return null;
    }
    boolean isFloat = store.buffer().dtype().isFloat();
    Operand x = operand(factors.get(0), isFloat);
    Operand y = operand(factors.get(1), isFloat);
    if (x == null || y == null) {
      return null;
    }
    Stmt product = product(store, c, x, y);
    return product != null ? product : product(store, c, y, x);
  }

  /**
   * The factors of what is added to a sum: {@code fma(a, b, c)}, of integers {@code a * b + c}, of
   * f16 {@code f16(fma(a, b, f32(c)))}.
   */
  private static @Nullable List<Expr> factors(Stmt.Store store) {
    return switch (store.value()) {
      case Expr.Call(var op, List<Expr> args, var _)
          when op == MathOp.FMA && isSelf(args.get(2), store) ->
          args.subList(0, 2);
      case Expr.Cast(var _, Expr.Call(var op, List<Expr> args, var _))
          when op == MathOp.FMA
              && store.buffer().dtype() == DType.F16
              && args.get(2) instanceof Expr.Cast(Type wide, Expr sum)
              && wide.equals(Type.F32)
              && isSelf(sum, store) ->
          args.subList(0, 2);
      case Expr.Binary(BinaryOp op, Expr.Binary(BinaryOp times, Expr a, Expr b), Expr c)
          when op == BinaryOp.ADD
              && times == BinaryOp.MUL
              && store.buffer().dtype() == DType.I32
              && isSelf(c, store) ->
          List.of(a, b);
      default -> null;
    };
  }

  private @Nullable Stmt product(Stmt.Store store, List<TileIndex> c, Operand a, Operand b) {
    List<Var> rows = c.get(0).vars();
    List<Var> cols = c.get(1).vars();
    boolean across = !a.tile().get(0).vars().equals(rows);
    List<Var> depth = a.tile().get(across ? 0 : 1).vars();
    if (!a.tile().get(across ? 1 : 0).vars().equals(rows)
        || !reduceVars.containsAll(depth)
        || tile.extents(reduceVars::contains).values().stream().filter(n -> n > 1).count()
            != depth.size()) {
      return null;
    }
    List<Var> first = b.tile().get(0).vars();
    List<Var> second = b.tile().get(1).vars();
    boolean plain = first.equals(depth) && second.equals(cols);
    boolean transposed = first.equals(cols) && second.equals(depth);
    if (!plain && !transposed) {
      return null;
    }
    for (Expr condition : tile.conditions()) {
      if (Affine.mentions(condition, reduceVars)) {
        for (Operand operand : List.of(a, b)) {
          check.require(
              6,
              ZeroPadding.isZeroOutside(func, tile, operand.load(), condition),
              operand.load().buffer().name()
                  + " is not known to be zero where the predicate cuts the reduction off: split by"
                  + " a divisor, or stage the operand by a tensorized copy",
              tile.block());
        }
      }
    }
    check.require(
        5,
        tile.conditions().isEmpty()
            || tile.inBounds(a.load().buffer(), a.load().indices())
                && tile.inBounds(b.load().buffer(), b.load().indices()),
        "without its predicate the GEMM reads outside its operands",
        tile.block());
    for (Operand operand : List.of(a, b)) {
      Buffer buffer = operand.load().buffer();
      check.require(
          8,
          tile.conditions().isEmpty()
              || WrittenBefore.holds(func, tile, buffer, operand.load().indices()),
          "without its predicate the GEMM reads elements of "
              + buffer.name()
              + " that may be written nowhere: tensorize what writes them first",
          tile.block());
    }
    return new Stmt.TileMma(
        TileCopies.region(store.buffer(), c),
        TileCopies.region(a.load().buffer(), a.tile()),
        TileCopies.region(b.load().buffer(), b.tile()),
        across,
        !plain,
        attrs);
  }

  private @Nullable Operand operand(Expr e, boolean isFloat) {
    Expr inner = e instanceof Expr.Cast(var _, Expr a) ? a : e;
    if (!(inner instanceof Expr.Load load)
        || load.indices().size() != 2
        || load.buffer().dtype().isFloat() != isFloat) {
      return null;
    }
    List<TileIndex> runs = tile.tile(load.indices(), tile.extents(v -> true));
    return runs == null ? null : new Operand(load, runs);
  }

  private static boolean isZero(Expr e) {
    return e instanceof Expr.FloatImm imm && Double.doubleToRawLongBits(imm.value()) == 0
        || Exprs.isConst(e, 0);
  }

  private static boolean isSelf(Expr e, Stmt.Store store) {
    return e instanceof Expr.Load(Buffer buffer, List<Expr> indices)
        && buffer == store.buffer()
        && indices.equals(store.indices());
  }

  // --- sums and maxima

  private Stmt reduce(Stmt.Store store) {
    Stmt.Block block = tile.block();
    ReduceOp op = null;
    Expr value = null;
    if (store.value() instanceof Expr.Binary(BinaryOp binary, Expr a, Expr b)) {
      op =
          switch (binary) {
            case ADD -> ReduceOp.SUM;
            case MAX -> ReduceOp.MAX;
            default -> null;
          };
      value = isSelf(a, store) ? b : isSelf(b, store) ? a : null;
    }
    if (op == null || value == null) {
      throw check.error(
          4, "block " + block.name() + " is neither a matrix product nor a sum or maximum", block);
    }
    List<Expr> kept = new ArrayList<>(tile.kept(func, value));
    for (Expr condition : tile.conditions()) {
      if (!kept.contains(condition) && Affine.mentions(condition, reduceVars)) {
        kept.add(condition);
      }
    }
    Map<Var, Long> spatial = tile.extents(v -> !reduceVars.contains(v));
    Map<Var, Long> reduce = tile.extents(reduceVars::contains);
    return new Stmt.TileReduce(
        op,
        List.copyOf(spatial.keySet()),
        spatial.values().stream().map(n -> (Expr) Exprs.i32(n)).toList(),
        List.copyOf(reduce.keySet()),
        reduce.values().stream().map(n -> (Expr) Exprs.i32(n)).toList(),
        store.buffer(),
        store.indices(),
        Tile.guarded(kept, value, op.identity(value.type())),
        attrs);
  }
}
