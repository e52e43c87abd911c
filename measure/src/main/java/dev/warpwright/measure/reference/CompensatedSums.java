package dev.warpwright.measure.reference;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.workload.tensor.Ops;
import java.util.List;

/**
 * Turns sums of products in a local buffer into sums of about twice the precision: what rounding
 * takes from each product and each sum is summed, too (Ogita, Rump and Oishi's Dot2).
 *
 * <pre>{@code
 * s[i] = fma(x, y, s[i])
 * →
 * p = x * y;  e = fma(x, y, -p);  t = s[i] + p;  z = t - s[i]
 * rest[i] = rest[i] + (((s[i] - (t - z)) + (p - z)) + e);  s[i] = t
 * }</pre>
 *
 * <p>Other reads of {@code s[i]} become {@code s[i] + rest[i]}.
 */
final class CompensatedSums extends Rewriter {
  private final Buffer sums;
  private final Buffer rest;

  private CompensatedSums(Buffer sums) {
    this.sums = sums;
    this.rest = sums.withName(sums.name() + "_rest");
  }

  /** Rewrites a kernel's sums in the buffer of this name. */
  static Kernel apply(Kernel kernel, String name) {
    Stmt body =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            return s instanceof Stmt.Alloc(Buffer buffer, Stmt inner) && buffer.name().equals(name)
                ? compensated(buffer, inner)
                : super.stmt(s);
          }
        }.stmt(kernel.body());
    return kernel.withBody(body);
  }

  private static Stmt compensated(Buffer buffer, Stmt inner) {
    CompensatedSums pass = new CompensatedSums(buffer);
    return new Stmt.Alloc(buffer, new Stmt.Alloc(pass.rest, pass.stmt(inner)));
  }

  @Override
  public Stmt stmt(Stmt s) {
    if (!(s instanceof Stmt.Store(Buffer buffer, List<Expr> indices, Expr value))
        || buffer != sums) {
      return super.stmt(s);
    }
    return value instanceof Expr.Call(var op, List<Expr> args, var _) && op == MathOp.FMA
        ? product(indices, args.get(0), args.get(1))
        : Stmts.seq(s, new Stmt.Store(rest, indices, Exprs.zero(value.type())));
  }

  private Stmt product(List<Expr> at, Expr x, Expr y) {
    Expr sum = new Expr.Load(sums, at);
    Var p = new Var("p", Type.of(sums.dtype()));
    Var e = new Var("e", p.type());
    Var t = new Var("t", p.type());
    Var z = new Var("z", p.type());
    Expr lost = Exprs.add(Exprs.add(Exprs.sub(sum, Exprs.sub(t, z)), Exprs.sub(p, z)), e);
    Stmt update =
        Stmts.seq(
            new Stmt.Store(rest, at, Exprs.add(new Expr.Load(rest, at), lost)),
            new Stmt.Store(sums, at, t));
    return new Stmt.Let(
        p,
        Exprs.mul(x, y),
        new Stmt.Let(
            e,
            Exprs.fma(x, y, Ops.negate(p)),
            new Stmt.Let(t, Exprs.add(sum, p), new Stmt.Let(z, Exprs.sub(t, sum), update))));
  }

  @Override
  public Expr expr(Expr e) {
    return e instanceof Expr.Load(Buffer buffer, List<Expr> indices) && buffer == sums
        ? Exprs.add(e, new Expr.Load(rest, indices))
        : super.expr(e);
  }
}
