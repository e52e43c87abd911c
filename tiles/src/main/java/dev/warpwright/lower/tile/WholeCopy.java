package dev.warpwright.lower.tile;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A statement that copies all of a tile: in one piece, or in bands of rows, as the pages of a cache
 * come.
 *
 * <pre>{@code
 * tile.copy Ks[0 +: 32, 0 +: 64] <- K[…]
 * for page in 2 { tile.copy Ks[page * 16 +: 16, 0 +: 64] <- K[… page …] }
 * }</pre>
 *
 * @param to the tile
 * @param from where it comes from
 */
record WholeCopy(Stmt stmt, Buffer to, Buffer from) {
  /** The statement as such a copy; null if it is none. */
  static @Nullable WholeCopy of(Stmt s) {
    return switch (s) {
      case Stmt.TileCopy copy when TileFacts.isWhole(copy.to()) -> of(s, copy);
      case Stmt.For f
          when f.kind() == ForKind.SERIAL
              && TileFacts.flat(f.body()) instanceof List<Stmt> body
              && body.size() == 1
              && body.getFirst() instanceof Stmt.TileCopy copy
              && isInBands(f, copy.to()) ->
          of(s, copy);
      default -> null;
    };
  }

  private static WholeCopy of(Stmt s, Stmt.TileCopy copy) {
    return new WholeCopy(s, copy.to().buffer(), copy.from().buffer());
  }

  /** Whether each iteration covers rows of its own, and all of them every row. */
  private static boolean isInBands(Stmt.For f, Region to) {
    List<Range> others = new ArrayList<>(to.ranges());
    Range rows = others.removeFirst();
    List<Range> whole = new ArrayList<>(Region.whole(to.buffer()).ranges());
    return whole.removeFirst().extent() instanceof Expr.IntImm all
        && others.equals(whole)
        && rows.extent() instanceof Expr.IntImm band
        && f.min() instanceof Expr.IntImm first
        && first.value() == 0
        && f.extent() instanceof Expr.IntImm count
        && count.value() * band.value() == all.value()
        && rows.min() instanceof Expr.Binary product
        && product.op() == BinaryOp.MUL
        && product.a() == f.var()
        && product.b() instanceof Expr.IntImm step
        && step.value() == band.value();
  }
}
