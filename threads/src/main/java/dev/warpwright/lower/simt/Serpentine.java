package dev.warpwright.lower.simt;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import java.util.Map;

/**
 * Lets the unrolled loops inside a loop with the attribute {@code serpentine} go to and fro: where
 * one row of products ends, the next begins, so that the operand of the column is still at hand.
 *
 * <pre>{@code
 * unroll i in n [serpentine = 1] { unroll j in m { S(i, j) } }
 * →
 * unroll i in n { unroll j in m { S(i, select(i % 2 == 0, j, m-1-j)) } }
 * }</pre>
 *
 * <p>Who sets the attribute says that the order of the inner iterations does not matter.
 *
 * <p>Stands after {@link PrivateLocals}, which wants indices to be linear.
 */
public final class Serpentine extends Rewriter {
  /** On a loop around the loops that turn round. */
  public static final String ATTRIBUTE = "serpentine";

  private Serpentine() {}

  static Stmt apply(Stmt body) {
    return new Serpentine().stmt(body);
  }

  @Override
  public Stmt stmt(Stmt s) {
    if (!(s instanceof Stmt.For loop) || !loop.attrs().has(ATTRIBUTE)) {
      return super.stmt(s);
    }
    Expr back = Exprs.eq(Exprs.mod(loop.var(), 2), Exprs.i32(1));
    return loop.withBody(turned(loop.body(), back)).withAttrs(Attrs.NONE);
  }

  private static Stmt turned(Stmt s, Expr back) {
    if (!(s instanceof Stmt.For loop) || loop.kind() != ForKind.UNROLLED) {
      return s;
    }
    Var v = loop.var();
    Expr last = Exprs.sub(loop.extent(), Exprs.i32(1));
    Expr turn = Exprs.select(back, Exprs.sub(last, v), v);
    return loop.withBody(Substitution.ofVars(Map.of(v, turn)).stmt(turned(loop.body(), back)));
  }
}
