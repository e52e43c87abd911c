package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.schedule.analysis.Independence;
import dev.warpwright.schedule.analysis.Nest;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.TileIndex;
import dev.warpwright.schedule.analysis.Tree;
import dev.warpwright.schedule.error.ScheduleError;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges a block, with the loops around it inside a given loop, by the tile statement that it
 * is.
 *
 * <pre>{@code
 * for i { for j { to[a+i, b+j] = cast(from[c+i, d+j]) } }    →  tile.copy to[…] <- from[…]
 * for i { for j { c[i, j] = constant } }                     →  tile.fill c
 * for i { for j { h[i, j] = f(c[i, j], bias[j]) } }          →  tile.map (i, j) { h[i, j] = … }
 * for i { for j { for k { c = fma(a[i, k], b[j, k], c) } } } →  [tile.fill c] tile.mma c += a · bᵀ
 * for i { for k { s[i] = s[i] + v(i, k) } }                  →  [tile.fill s] tile.reduce s
 * }</pre>
 *
 * <p>Of a {@link Blockize}d block the loops inside it are taken, if no loop is given.
 *
 * <p>What becomes of predicates, which tile statements do not have:
 *
 * <ul>
 *   <li>Copies do not write outside their target and read zeros outside their source; a predicate
 *       that says just that goes.
 *   <li>On-chip buffers may hold more than was asked for: an instance beyond the extents of its
 *       variables that touches elements inside buffers and writes on chip is computed. Where it
 *       would read outside a buffer, or an element that nothing writes, zero is written instead
 *       ({@code select}). Sums need an initialisation of those elements, too: the block's own, or
 *       one that is tensorized already.
 *   <li>A product may go on beyond the end of a reduction where both operands are known to be zero.
 *   <li>Nothing else is dropped: a guarded store to global memory that is no copy is refused.
 * </ul>
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The block and the loop exist, and the loop is around the block.
 *   <li>Loops inside the given one are around this block alone.
 *   <li>They are serial, start at 0 and have constant extents; the block contains only stores.
 *   <li>It is one of the forms above, in one dense tile of the target (a reduction with all of its
 *       loops inside, or decomposed).
 *   <li>Predicates can be dropped or turned into a select as above.
 *   <li>Where a predicate ends a matmul's reduction, both operands are zero beyond it.
 *   <li>Parallel loops of the result are independent.
 *   <li>What a matmul reads without its predicate is written: by one statement without a predicate,
 *       earlier in the same iteration of the loops around both.
 * </ol>
 */
public final class Tensorize {
  private static final String NAME = "tensorize";

  private Tensorize() {}

  /**
   * Applies the primitive.
   *
   * @param inside the loop that stays, or null to take the innermost serial loops that are around
   *     the block alone
   * @param attrs of the new statement, besides those of the block; a product carries {@code instr}
   *     and {@code warps}, for example
   */
  public static PrimFunc apply(PrimFunc func, String blockName, @Nullable Var inside, Attrs attrs) {
    PrimFunc result = unchecked(func, blockName, inside, attrs);
    return new Check(NAME, func).parallelLoopsIndependent(7, result);
  }

  /**
   * Applies the primitive to several blocks. What comes out is the same, but the seventh
   * requirement is looked at once, for the result: it takes as long as the function is, and so for
   * each block of a deep network as long as all of them.
   *
   * @param attrs of the new statements, by the names of the blocks, in the order to apply them
   */
  public static PrimFunc applyAll(PrimFunc func, SequencedMap<String, Attrs> attrs) {
    PrimFunc result = func;
    for (Map.Entry<String, Attrs> block : attrs.entrySet()) {
      result = unchecked(result, block.getKey(), null, block.getValue());
    }
    try {
      return new Check(NAME, func).parallelLoopsIndependent(7, result);
    } catch (ScheduleError e) {
      // One after the other, so that the error shows the block that it comes from.
      PrimFunc each = func;
      for (Map.Entry<String, Attrs> block : attrs.entrySet()) {
        each = apply(each, block.getKey(), null, block.getValue());
      }
      throw e;
    }
  }

  private static PrimFunc unchecked(
      PrimFunc func, String blockName, @Nullable Var inside, Attrs attrs) {
    List<Stmt> path = new Check(NAME, func).block(1, blockName);
    Stmt.Block block = (Stmt.Block) path.getLast();
    Stmt.Block inner = Blockize.innerOf(block);
    if (inner == null) {
      return leaf(func, blockName, inside, attrs, -1);
    }
    Stmt nest = Blockize.dissolved(block, inner);
    int depth = Tree.allLoops(block.body()).size();
    PrimFunc dissolved = Tree.replace(func, block, nest);
    try {
      return leaf(dissolved, blockName, inside, attrs, depth);
    } catch (ScheduleError e) {
      throw new ScheduleError(NAME, e.requirement(), e.reason(), func, block);
    }
  }

  /** The same for a leaf; {@code depth} loops if it is not negative and no loop is given. */
  private static PrimFunc leaf(
      PrimFunc func, String blockName, @Nullable Var inside, Attrs attrs, int depth) {
    Check check = new Check(NAME, func);
    List<Stmt> path = check.block(1, blockName);
    Stmt.Block block = (Stmt.Block) path.getLast();
    List<Stmt.For> loops = Nest.loops(path);
    if (inside == null && depth >= 0) {
      loops = loops.subList(loops.size() - depth, loops.size());
    } else if (inside == null) {
      int first = loops.size();
      while (first > 0 && loops.get(first - 1).kind() == ForKind.SERIAL) {
        first--;
      }
      loops = loops.subList(first, loops.size());
    } else {
      check.loop(1, inside);
      List<Stmt.For> around = Tree.loops(path);
      List<Var> vars = around.stream().map(Stmt.For::var).toList();
      check.require(
          1, vars.contains(inside), "loop " + inside + " is not around " + blockName, block);
      List<Stmt.For> within = around.subList(vars.indexOf(inside) + 1, around.size());
      for (Stmt.For loop : within) {
        check.require(
            2,
            loops.stream().anyMatch(l -> l == loop),
            "loop " + loop.var() + " is not around block " + blockName + " alone",
            loop);
      }
      loops = within;
    }
    for (Stmt.For loop : loops) {
      check.require(
          3,
          loop.kind() == ForKind.SERIAL
              && Exprs.isConst(loop.min(), 0)
              && loop.extent() instanceof Expr.IntImm,
          "loop " + loop.var() + " is not serial from 0 with a constant extent",
          loop);
    }
    List<Stmt.Store> inits = stores(check, block, block.init());
    check.require(3, inits.size() <= 1, "the initialisation has several stores", block);
    Ranges ranges = Tree.ranges(func, path);
    Tile tile =
        Tile.of(
            block,
            loops,
            ranges,
            inits.isEmpty() ? null : inits.getFirst(),
            stores(check, block, block.body()));
    if (!block.isReduction()) {
      check.require(
          4,
          Independence.conflict(loops, block, ranges) == null,
          "instances of block " + blockName + " in the tile depend on each other",
          block);
    }
    Attrs all = block.attrs().with(attrs);
    Stmt statement =
        block.isReduction() ? TileReductions.of(check, func, tile, all) : spatial(check, tile, all);
    Stmt replaced = loops.isEmpty() ? block : loops.getFirst();
    return func.withBody(Tree.tidy(Tree.replace(func.body(), replaced, statement)));
  }

  private static List<Stmt.Store> stores(Check check, Stmt.Block block, @Nullable Stmt body) {
    List<Stmt.Store> stores = new ArrayList<>();
    if (body != null) {
      for (Stmt s : body instanceof Stmt.Seq seq ? seq.stmts() : List.of(body)) {
        if (!(s instanceof Stmt.Store store)) {
          throw check.error(3, "block " + block.name() + " contains more than stores", block);
        }
        stores.add(store);
      }
    }
    return stores;
  }

  private static Stmt spatial(Check check, Tile tile, Attrs attrs) {
    Stmt copy = TileCopies.of(tile, attrs);
    if (copy != null) {
      return copy;
    }
    Stmt.Store only = tile.stores().size() == 1 ? tile.stores().getFirst() : null;
    if (only != null
        && (only.value() instanceof Expr.FloatImm || only.value() instanceof Expr.IntImm)) {
      tile.requireStoresAnywhere(check, 5, only);
      List<TileIndex> target = tile.tile(only.indices(), tile.extents(v -> true));
      if (target != null) {
        return TileReductions.filled(check, tile, only, target, attrs);
      }
    }
    return map(check, tile, attrs);
  }

  private static Stmt map(Check check, Tile tile, Attrs attrs) {
    List<Stmt.Store> stores = new ArrayList<>();
    for (Stmt.Store store : tile.stores()) {
      tile.requireStoresAnywhere(check, 5, store);
      Expr value = store.value();
      stores.add(
          new Stmt.Store(
              store.buffer(),
              store.indices(),
              Tile.guarded(tile.kept(check.func(), value), value, Exprs.zero(value.type()))));
    }
    Map<Var, Long> extents = tile.extents(v -> true);
    return new Stmt.TileMap(
        List.copyOf(extents.keySet()),
        extents.values().stream().map(n -> (Expr) Exprs.i32(n)).toList(),
        stores,
        attrs);
  }
}
