package dev.warpwright.lower.grid;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.PassListener;
import java.util.HashSet;
import java.util.Set;

/**
 * Takes a table of tiles at its word: row and column are what an entry says, without the bound that
 * let the passes see which accesses need no guard ({@link FusedGemms}). Computed anew in a loop, as
 * compilers do where registers are short, the bound would cost instructions in each step.
 *
 * <pre>{@code
 * let entry = order[ticket]                     let entry = order[ticket]
 * let tile_n = min(entry & 65535, 31)       →   let tile_n = entry & 65535
 * }</pre>
 *
 * <p>The table is made from the kernel's attributes ({@link FusedOrder}), which bound its entries.
 * Stands behind the last {@code Simplify}, which uses the bound.
 */
public final class TrustedTables {
  private TrustedTables() {}

  /** Drops the bounds of rows and columns; a kernel that reads no table of two grids stays. */
  public static Kernel apply(Kernel kernel, PassListener listener) {
    return FusedOrder.isIn(kernel.attrs())
        ? listener.tell("TrustedTables", kernel.withBody(new Unbound().stmt(kernel.body())))
        : kernel;
  }

  private static final class Unbound extends Rewriter {
    private final Set<Var> entries = new HashSet<>();

    @Override
    public Stmt stmt(Stmt s) {
      if (!(s instanceof Stmt.Let(Var v, Expr value, Stmt body))) {
        return super.stmt(s);
      }
      if (value instanceof Expr.Load load && load.buffer().name().equals(WorkTickets.TABLE)) {
        entries.add(v);
      }
      boolean bound =
          value instanceof Expr.Binary(BinaryOp op, Expr of, Expr.IntImm most)
              && op == BinaryOp.MIN
              && isOfEntry(of);
      Expr trusted = bound ? ((Expr.Binary) value).a() : value;
      return new Stmt.Let(v, trusted, stmt(body));
    }

    private boolean isOfEntry(Expr e) {
      boolean[] entry = {false};
      Walk.expressions(e, x -> entry[0] |= x instanceof Var v && entries.contains(v));
      return entry[0];
    }
  }
}
