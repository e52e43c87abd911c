package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.schedule.analysis.Forms;
import dev.warpwright.schedule.analysis.TileIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Recognises copies. */
final class TileCopies {
  private TileCopies() {}

  /**
   * The copy that the tile is, or null. A condition may go where it is the bound of the buffer
   * copied to (what is outside is not written), or of the one copied from if the target is on chip
   * (zeros are written, and nobody asked for those elements).
   */
  static @Nullable Stmt of(Tile tile, Attrs attrs) {
    if (tile.stores().size() != 1) {
      return null;
    }
    Stmt.Store store = tile.stores().getFirst();
    Expr value = store.value() instanceof Expr.Cast(var type, Expr a) ? a : store.value();
    if (!(value instanceof Expr.Load(Buffer from, List<Expr> fromIndices))) {
      return null;
    }
    Map<Var, Long> extents = tile.extents(v -> true);
    List<TileIndex> to = tile.tile(store.indices(), extents);
    List<TileIndex> source = tile.tile(fromIndices, extents);
    if (to == null || source == null || !runs(to).equals(runs(source))) {
      return null;
    }
    long moving = extents.values().stream().filter(n -> n > 1).count();
    if (runs(to).stream().mapToInt(List::size).sum() != moving) {
      return null;
    }
    for (Expr condition : tile.conditions()) {
      boolean implied =
          isBound(tile, condition, store.buffer(), store.indices())
              || Tile.isOnChip(store.buffer())
                  && tile.inBounds(store.buffer(), store.indices())
                  && isBound(tile, condition, from, fromIndices);
      if (!implied) {
        return null;
      }
    }
    return new Stmt.TileCopy(region(store.buffer(), to), region(from, source), attrs);
  }

  private static List<List<Var>> runs(List<TileIndex> tile) {
    return tile.stream().map(TileIndex::vars).filter(vars -> !vars.isEmpty()).toList();
  }

  static Region region(Buffer buffer, List<TileIndex> tile) {
    List<Range> ranges = new ArrayList<>();
    tile.forEach(index -> ranges.add(index.range()));
    return new Region(buffer, ranges);
  }

  /** Whether the condition says that an index is less than its dimension's extent. */
  private static boolean isBound(Tile tile, Expr condition, Buffer buffer, List<Expr> indices) {
    LinearForm slack = Tile.slack(condition, tile.ranges());
    for (int d = 0; slack != null && d < indices.size(); d++) {
      LinearForm room = Forms.of(buffer.shape().get(d)).minus(tile.index(indices.get(d))).plus(-1);
      if (room.equals(slack)) {
        return true;
      }
    }
    return false;
  }
}
