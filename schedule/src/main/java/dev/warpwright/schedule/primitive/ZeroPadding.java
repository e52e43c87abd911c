package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Forms;
import dev.warpwright.schedule.analysis.Span;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Which elements of tiles are zero because nothing is there to be copied or computed. */
final class ZeroPadding {
  private ZeroPadding() {}

  /**
   * Whether the element that is loaded is zero in every iteration of the tile in which the
   * condition does not hold: the one statement that writes the buffer is a copy whose source ends
   * there, or a map that selects zero there.
   */
  static boolean isZeroOutside(PrimFunc func, Tile tile, Expr.Load load, Expr condition) {
    LinearForm slack = Tile.slack(condition, tile.ranges());
    List<Stmt> writers =
        Accesses.of(func.body(), load.buffer()).stream()
            .filter(Access::isWrite)
            .map(Access::leaf)
            .distinct()
            .toList();
    if (slack == null || writers.size() != 1) {
      return false;
    }
    return switch (writers.getFirst()) {
      case Stmt.TileCopy copy -> byCopy(copy, tile, load, slack);
      case Stmt.TileMap map -> byMap(map, tile, load, slack);
      default -> false;
    };
  }

  private static boolean byCopy(Stmt.TileCopy copy, Tile tile, Expr.Load load, LinearForm slack) {
    List<Integer> to = tileDimensions(copy.to());
    List<Integer> from = tileDimensions(copy.from());
    for (int i = 0; i < to.size(); i++) {
      Range target = copy.to().ranges().get(to.get(i));
      Range source = copy.from().ranges().get(from.get(i));
      LinearForm within = tile.index(load.indices().get(to.get(i))).minus(Forms.of(target.min()));
      LinearForm room =
          Forms.of(copy.from().buffer().shape().get(from.get(i)))
              .minus(Forms.of(source.min()).plus(within))
              .plus(-1);
      if (room.equals(slack) && isWithin(tile, within, target.extent())) {
        return true;
      }
    }
    return false;
  }

  private static List<Integer> tileDimensions(Region region) {
    List<Integer> dimensions = new ArrayList<>();
    for (int d = 0; d < region.ranges().size(); d++) {
      if (!region.ranges().get(d).isPoint()) {
        dimensions.add(d);
      }
    }
    return dimensions;
  }

  /** Whether a coordinate of a tile is inside its extent in every iteration. */
  private static boolean isWithin(Tile tile, LinearForm coordinate, Expr extent) {
    Span span = tile.ranges().of(coordinate);
    Span room = tile.ranges().of(Forms.of(extent).minus(coordinate).plus(-1));
    return span != null && span.lo() >= 0 && room != null && room.lo() >= 0;
  }

  /** Whether the map runs over all coordinates that the condition speaks of. */
  private static boolean covers(Stmt.TileMap map, Expr condition, Map<Var, Expr> point, Tile tile) {
    for (int i = 0; i < map.vars().size(); i++) {
      Var v = map.vars().get(i);
      Expr coordinate = point.get(v);
      if (Affine.mentions(condition, Set.of(v))
          && (coordinate == null
              || !isWithin(tile, tile.index(coordinate), map.extents().get(i)))) {
        return false;
      }
    }
    return true;
  }

  private static boolean byMap(Stmt.TileMap map, Tile tile, Expr.Load load, LinearForm slack) {
    for (Stmt.Store store : map.stores()) {
      if (store.buffer() != load.buffer()
          || !(store.value() instanceof Expr.Select(Expr condition, Expr then, Expr otherwise))
          || !otherwise.equals(Exprs.zero(otherwise.type()))) {
        continue;
      }
      Map<Var, Expr> point = new HashMap<>();
      for (int d = 0; d < store.indices().size(); d++) {
        LinearForm index = Forms.of(store.indices().get(d));
        for (Var v : map.vars()) {
          if (index.terms().getOrDefault(v, 0L) == 1) {
            LinearForm value = tile.index(load.indices().get(d)).minus(index).plus(Forms.of(v));
            point.put(v, value.toExpr());
          }
        }
      }
      Substitution at = Substitution.ofVars(point);
      for (Expr part : Guard.conjuncts(condition)) {
        LinearForm room = Tile.slack(at.expr(part), tile.ranges());
        if (room != null && room.equals(slack) && covers(map, part, point, tile)) {
          return true;
        }
      }
    }
    return false;
  }
}
