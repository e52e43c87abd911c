package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Affine;
import dev.warpwright.ir.arith.LinearForm;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An index that runs through consecutive values, each once, while some loops run.
 *
 * @param vars the loops that move it, the slowest first; loops of one iteration are left out
 * @param range from the first value on
 */
public record TileIndex(List<Var> vars, Range range) {
  public TileIndex {
    vars = List.copyOf(vars);
  }

  /** The index seen that way, or null if it skips, repeats or mixes values. */
  public static @Nullable TileIndex of(LinearForm index, Map<Var, Long> extents) {
    LinearForm fixed = index.part(atom -> !Affine.mentions(atom, extents.keySet()));
    LinearForm moving = index.minus(fixed).plus(-index.constant());
    List<Map.Entry<Expr, Long>> digits = new ArrayList<>(moving.terms().entrySet());
    digits.sort(Comparator.comparingLong(Map.Entry::getValue));
    List<Var> vars = new ArrayList<>();
    long weight = 1;
    for (Map.Entry<Expr, Long> digit : digits) {
      if (!(digit.getKey() instanceof Var v)) {
        return null;
      }
      long extent = extents.getOrDefault(v, 0L);
      if (extent == 1) {
        continue;
      }
      if (digit.getValue() != weight) {
        return null;
      }
      vars.addFirst(v);
      weight = Math.multiplyExact(weight, extent);
    }
    Expr first = fixed.plus(index.constant()).toExpr();
    return new TileIndex(vars, new Range(first, Exprs.i32(weight)));
  }
}
