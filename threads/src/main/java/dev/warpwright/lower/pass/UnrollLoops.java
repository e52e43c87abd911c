package dev.warpwright.lower.pass;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Rewriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes out unrolled loops.
 *
 * <p>Guarantees: no loop of kind {@link ForKind#UNROLLED} is left, and each copy of a body binds
 * its own variables and buffers.
 *
 * <p>Stands after {@link VectorizeLoops}, which wants one loop and not its copies, and before back
 * ends look for local buffers that are accessed at constant indices only.
 */
public final class UnrollLoops extends Rewriter {
  private UnrollLoops() {}

  /**
   * Writes out the unrolled loops of a body.
   *
   * @param body of a kernel
   * @return the body without such loops
   * @throws IllegalArgumentException if the extent of one is not a constant
   */
  public static Stmt apply(Stmt body) {
    return new UnrollLoops().stmt(body);
  }

  @Override
  public Stmt stmt(Stmt s) {
    if (!(s instanceof Stmt.For f) || f.kind() != ForKind.UNROLLED) {
      return super.stmt(s);
    }
    if (!(f.extent() instanceof Expr.IntImm extent)) {
      throw new IllegalArgumentException(
          "cannot unroll the loop over "
              + f.var()
              + ": its extent "
              + f.extent()
              + " is no constant");
    }
    Stmt body = stmt(f.body());
    List<Stmt> copies = new ArrayList<>();
    for (long i = 0; i < extent.value(); i++) {
      copies.add(FreshNames.with(f.var(), Exprs.add(f.min(), i), body));
    }
    return Stmts.seq(copies);
  }
}
