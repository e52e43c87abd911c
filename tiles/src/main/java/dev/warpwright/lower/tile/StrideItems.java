package dev.warpwright.lower.tile;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import java.util.List;

/**
 * Deals the items of a persistent loop out to a fixed number of blocks, in turn.
 *
 * <pre>{@code
 *                                     bind bx: blockIdx.x in 132 {
 * persistent t in n [blocks = 132] {    persistent item in (n - bx + 131) / 132 {
 *   alloc acc                     →       let t = item * 132 + bx
 *   …                                     alloc acc
 * }                                       …
 *                                     } }
 * }</pre>
 *
 * <p>Items need no order of their own and no block waits for another, so blocks need not be
 * resident at the same time. Loops that ask for an order of tiles ({@code order}, {@code columns})
 * stay as they are, and so do programs that say what each block does.
 *
 * <p>Stands in front of {@link PlanPipes}, which fills what all items need before a block's first.
 */
public final class StrideItems {
  private static final String BLOCKS = "blocks";

  private StrideItems() {}

  /** Deals items out, where there is such a loop. */
  public static PrimFunc apply(PrimFunc func) {
    return func.withBody(dealt(func.body()));
  }

  private static Stmt dealt(Stmt body) {
    return switch (body) {
      case Stmt.Seq(List<Stmt> stmts) when stmts.size() == 1 -> dealt(stmts.getFirst());
      case Stmt.For f when isDealt(f) -> dealt(f);
      default -> body;
    };
  }

  private static boolean isDealt(Stmt.For f) {
    return f.kind() == ForKind.PERSISTENT
        && f.attrs().has(BLOCKS)
        && !f.attrs().has("order")
        && !f.attrs().has("columns")
        && Exprs.isConst(f.min(), 0);
  }

  private static Stmt dealt(Stmt.For f) {
    long blocks = f.attrs().getLong(BLOCKS, 1);
    Var block = Var.index("bx");
    Var item = Var.index("item");
    Expr number = Exprs.add(Exprs.mul(item, blocks), block);
    // An own variable: what is computed ahead of time is a function of the item.
    Stmt each = new Stmt.Let(f.var(), number, f.body());
    Expr count = Exprs.div(Exprs.add(Exprs.sub(f.extent(), block), Exprs.i32(blocks - 1)), blocks);
    Stmt items =
        new Stmt.For(
            item, Exprs.i32(0), count, ForKind.PERSISTENT, null, f.attrs().without(BLOCKS), each);
    return new Stmt.For(
        block,
        Exprs.i32(0),
        Exprs.i32(blocks),
        ForKind.THREAD_BOUND,
        ThreadAxis.BLOCK_X,
        Attrs.NONE,
        Stmts.seq(items));
  }
}
