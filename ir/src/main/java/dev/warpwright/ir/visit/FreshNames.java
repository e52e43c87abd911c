package dev.warpwright.ir.visit;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import java.util.HashMap;
import java.util.Map;

/** Copies statements: everything that the copy binds, loops, lets and buffers, is its own. */
public final class FreshNames extends Rewriter {
  private final Map<Var, Expr> vars = new HashMap<>();
  private final Map<Buffer, Buffer> buffers = new HashMap<>();

  private FreshNames() {}

  /**
   * {@return a copy of a statement, in which variables and buffers of its own are new}
   *
   * @param body any statement
   */
  public static Stmt of(Stmt body) {
    return new FreshNames().stmt(body);
  }

  /**
   * {@return a copy of a statement with one variable replaced}
   *
   * @param v that is replaced
   * @param value what stands for it
   * @param body any statement
   */
  public static Stmt with(Var v, Expr value, Stmt body) {
    FreshNames copy = new FreshNames();
    copy.vars.put(v, value);
    return copy.stmt(body);
  }

  @Override
  protected Buffer buffer(Buffer buffer) {
    return buffers.getOrDefault(buffer, buffer);
  }

  @Override
  public Expr expr(Expr e) {
    if (e instanceof Var v) {
      return vars.getOrDefault(v, v);
    }
    Expr copy = super.expr(e);
    // Folds what became constant, above all indices.
    return copy != e
            && copy instanceof Expr.Binary b
            && b.type().dtype().isInt()
            && b.type().isScalar()
        ? Folding.binary(b)
        : copy;
  }

  @Override
  public Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.For f -> {
        Var renewed = renew(f.var());
        Expr min = expr(f.min());
        Expr extent = expr(f.extent());
        yield new Stmt.For(renewed, min, extent, f.kind(), f.axis(), f.attrs(), stmt(f.body()));
      }
      case Stmt.Let l -> {
        Expr value = expr(l.value());
        yield new Stmt.Let(renew(l.var()), value, stmt(l.body()));
      }
      case Stmt.Alloc a -> {
        Buffer b = a.buffer();
        buffers.put(
            b,
            new Buffer(
                b.name(), b.dtype(), exprs(b.shape()), b.scope(), b.layout(), b.alignment()));
        yield new Stmt.Alloc(buffer(b), stmt(a.body()));
      }
      default -> super.stmt(s);
    };
  }

  private Var renew(Var v) {
    Var renewed = new Var(v.name(), v.type());
    vars.put(v, renewed);
    return renewed;
  }
}
