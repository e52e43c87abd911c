package dev.warpwright.lower.flow;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a layer's weights while the product of the layer before is under way. What waits only
 * in the first item is a branch in all others; between the end of one product and the beginning of
 * the next a warpgroup has nothing else to do but to pack, and everything there is time in which
 * tensor cores may have no work.
 *
 * <pre>{@code
 * tile.mma acc += a * Ws^T                        tile.mma acc += a * Ws^T
 *                                                 if turn == 0 { mbarrier.wait(&full_1[0], 0) }
 * tile.map (r, c) { h[r, c] = f(acc[r, c]) }  →   tile.map (r, c) { h[r, c] = f(acc[r, c]) }
 * if turn == 0 { mbarrier.wait(&full_1[0], 0) }
 * tile.mma acc_1 += h * Ws_1^T                    tile.mma acc_1 += h * Ws_1^T
 * }</pre>
 *
 * <p>Requires nothing: waits stay that have other than maps, fills and copies between them and a
 * product before. Guarantees: no wait passes an arrival, so nobody waits for another who waits for
 * him. Stands behind {@code LowerPipes}, which makes the waits, and before {@code LowerTiles},
 * which waits for products where their sums are read.
 */
final class EarlyWaits extends Rewriter {
  private boolean moved;

  private EarlyWaits() {}

  static PrimFunc apply(PrimFunc func, PassListener listener) {
    EarlyWaits waits = new EarlyWaits();
    PrimFunc result = func.withBody(waits.stmt(func.body()));
    return waits.moved ? listener.tell("EarlyWaits", result) : func;
  }

  @Override
  public Stmt stmt(Stmt s) {
    Stmt result = super.stmt(s);
    if (!(result instanceof Stmt.Seq)) {
      return result;
    }
    List<Stmt> stmts = new ArrayList<>();
    boolean changed = false;
    for (Stmt each : StageNumbers.flat(result)) {
      int product = lastProduct(stmts);
      Waiting waiting = product < 0 ? null : Waiting.of(each);
      if (waiting == null) {
        stmts.add(each);
        continue;
      }
      stmts.add(product + 1, waiting.before());
      stmts.add(waiting.rest());
      changed = true;
    }
    moved |= changed;
    return changed ? Stmts.seq(stmts) : result;
  }

  /** Where the last product is, if nothing behind it but computes; -1 otherwise. */
  private static int lastProduct(List<Stmt> stmts) {
    for (int i = stmts.size() - 1; i >= 0; i--) {
      switch (stmts.get(i)) {
        case Stmt.TileMap _, Stmt.TileFill _, Stmt.TileCopy _, Stmt.Comment _ -> {}
        default -> {
          // Behind its own product a wait is early already.
          return i < stmts.size() - 1 && multiplies(stmts.get(i)) ? i : -1;
        }
      }
    }
    return -1;
  }

  /** Whether a statement is a product, or ends with one. */
  private static boolean multiplies(Stmt s) {
    return switch (s) {
      case Stmt.TileMma _ -> true;
      case Stmt.Seq(List<Stmt> stmts) -> !stmts.isEmpty() && multiplies(stmts.getLast());
      case Stmt.For f -> multiplies(f.body());
      default -> false;
    };
  }

  /** A product in a loop of one step, and what is waited for in front of it. */
  private record Waiting(Stmt before, Stmt rest) {
    static @Nullable Waiting of(Stmt s) {
      if (!(s instanceof Stmt.For f) || !Exprs.isConst(f.extent(), 1)) {
        return null;
      }
      List<Stmt> body = StageNumbers.flat(f.body());
      if (body.size() < 2
          || !(body.getFirst() instanceof Stmt.If first)
          || first.otherwise() != null
          || !isWait(first.then())
          || !multiplies(body.getLast())) {
        return null;
      }
      Stmt wait = Substitution.ofVars(Map.of(f.var(), f.min())).stmt(first);
      return new Waiting(wait, f.withBody(Stmts.seq(body.subList(1, body.size()))));
    }

    private static boolean isWait(Stmt s) {
      boolean[] waits = {false, true};
      Walk.statements(
          s,
          inner -> {
            boolean wait =
                inner instanceof Stmt.Evaluate(Expr.Call call)
                    && call.op() == HopperIntrinsics.MBARRIER_WAIT;
            waits[0] |= wait;
            waits[1] &= wait || inner instanceof Stmt.Seq;
          });
      return waits[0] && waits[1];
    }
  }
}
