package dev.warpwright.lower.item;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.FragmentInference;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.MapLowering;
import dev.warpwright.lower.gpu.StagedStore;
import dev.warpwright.lower.pass.LoweringException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A tile that is computed from fragments into shared memory, all of which is copied to global
 * memory right behind: it leaves by bulk stores ({@link StagedStore}), or straight from registers.
 *
 * <pre>{@code
 * tile.map Cs[i, j] = f(acc[i, j])
 * tile.copy C[…] <- Cs
 * }</pre>
 *
 * @param map what computes it
 * @param copy what stores it
 */
public record ResultTile(Stmt.TileMap map, Stmt.TileCopy copy) {
  /** Whether a statement copies a tile from shared to global memory. */
  public static boolean isStoredBy(Stmt s) {
    return s instanceof Stmt.TileCopy copy
        && copy.from().buffer().scope() == Scope.SHARED
        && copy.to().buffer().scope() == Scope.GLOBAL;
  }

  /**
   * The tile that two statements make.
   *
   * @param before what stands in front of the copy, if anything does
   * @throws LoweringException if it is not computed from fragments, whole
   */
  public static ResultTile of(@Nullable Stmt before, Stmt.TileCopy copy) {
    Buffer shared = copy.from().buffer();
    Stmt.TileMap map =
        switch (before) {
          case Stmt.TileMap m when m.stores().size() == 1 -> m;
          case Stmt.TileCopy filling -> asMap(filling);
          case null, default -> null;
        };
    if (map == null
        || map.stores().getFirst().buffer() != shared
        || !List.copyOf(map.vars()).equals(map.stores().getFirst().indices())
        || FragmentInference.fragments(map).isEmpty()
        || !copy.from().equals(Region.whole(shared))) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "result tile %s is not computed from fragments, whole, right before it is stored",
              shared.name()));
    }
    return new ResultTile(map, copy);
  }

  private static Stmt.TileMap asMap(Stmt.TileCopy copy) {
    Var i = Var.index("i");
    Var j = Var.index("j");
    List<Expr> point = List.of(i, j);
    Expr value = new Expr.Load(copy.from().buffer(), Guards.indices(copy.from(), point));
    Buffer to = copy.to().buffer();
    return new Stmt.TileMap(
        List.of(i, j),
        List.of(
            Exprs.i32(Guards.extent(copy.to().tile().get(0))),
            Exprs.i32(Guards.extent(copy.to().tile().get(1)))),
        List.of(
            new Stmt.Store(to, Guards.indices(copy.to(), point), Exprs.cast(to.dtype(), value))),
        Attrs.NONE);
  }

  /** How it leaves a block. */
  public enum Way {
    /** Each thread stores what it has computed. */
    REGISTERS,
    /** Through panels in shared memory, which TMA copies carry away. */
    TMA,
    /** The same of fragments whose rows are the result's columns. */
    TRANSPOSED,
    /** Through panels in shared memory, whose rows threads store. */
    ROWS
  }

  /**
   * How it leaves a block: through shared memory only where fragments lie along its rows, and so
   * does the result, or where it is said that they do not.
   *
   * @param store the program's attribute: {@code "direct"}, {@code "rows"}, {@code "transposed"};
   *     null for TMA copies, where they take the result
   */
  public Way way(@Nullable String store) {
    Buffer to = copy.to().buffer();
    if ("direct".equals(store) || to.dtype() != tile().dtype()) {
      return Way.REGISTERS;
    }
    if (isTransposed()) {
      return "transposed".equals(store) && TmaLoad.storeRefusal(to) == null
          ? Way.TRANSPOSED
          : Way.REGISTERS;
    }
    if ("rows".equals(store)) {
      return Way.ROWS;
    }
    return TmaLoad.storeRefusal(to) == null ? Way.TMA : Way.REGISTERS;
  }

  /** The buffer in shared memory. */
  public Buffer tile() {
    return copy.from().buffer();
  }

  /**
   * Whether the map takes elements of fragments at (j, i), or in groups along j, to the point (i,
   * j).
   */
  private boolean isTransposed() {
    boolean[] found = {false};
    Walk.expressions(
        map.stores().getFirst().value(),
        e ->
            found[0] |=
                e instanceof Expr.Load load
                    && load.buffer().scope() == Scope.FRAGMENT
                    && load.indices().size() == 2
                    && load.indices().get(1) == map.vars().get(0));
    return found[0];
  }

  /** The map with its variables in the order in which fragments are indexed. */
  private Stmt.TileMap alongFragments(Stmt.Store store) {
    boolean across = isTransposed();
    return new Stmt.TileMap(
        across ? map.vars().reversed() : map.vars(),
        across ? map.extents().reversed() : map.extents(),
        List.of(store),
        Attrs.NONE);
  }

  /**
   * Stores what the map computes straight to the result.
   *
   * @param exact whether no tile lies outside of the result
   */
  public Stmt direct(MapLowering maps, boolean exact) {
    Region to = copy.to();
    // What the map stores at a point of the staging buffer goes to that point of the result's tile.
    List<Expr> indices = Guards.indices(to, map.stores().getFirst().indices());
    Expr value = map.stores().getFirst().value();
    Stmt.Store store = new Stmt.Store(to.buffer(), indices, Exprs.cast(to.buffer().dtype(), value));
    return maps.guarded(
        alongFragments(store),
        exact ? Guards.insideOfGrid(to, indices) : Guards.inside(to, indices));
  }

  /**
   * A warpgroup's code that stores it through panels.
   *
   * @param consumer the thread among those that hold the tile's fragments
   * @param part the warpgroup among those
   * @param group the warpgroup among those with panels
   * @param thread the thread in the warpgroup
   * @param exact whether no tile lies outside of the result, as one may that fills up a cluster:
   *     nothing is stored of it, and nothing must be read for it
   */
  public Stmt staged(
      StagedStore store,
      MapLowering maps,
      Expr consumer,
      Expr part,
      Expr group,
      Expr thread,
      boolean exact) {
    Region to = copy.to();
    Expr value = map.stores().getFirst().value();
    Stmt.TileMap along = alongFragments(map.stores().getFirst());
    boolean guarded = !exact && readsMemory(value);
    return store.store(
        to,
        (row, column, register) -> {
          Expr here = maps.valueAt(along, value, row, column, register);
          List<Expr> point = store.transposed() ? List.of(column, row) : List.of(row, column);
          return guarded ? Guards.where(Guards.inside(to, Guards.indices(to, point)), here) : here;
        },
        consumer,
        part,
        group,
        thread);
  }

  private static boolean readsMemory(Expr value) {
    boolean[] reads = {false};
    Walk.expressions(
        value,
        e -> reads[0] |= e instanceof Expr.Load load && load.buffer().scope() == Scope.GLOBAL);
    return reads[0];
  }
}
