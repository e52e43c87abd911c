package dev.warpwright.lower.pass;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Rewriter;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
      copies.add(new Copy(f.var(), Exprs.add(f.min(), i)).stmt(body));
    }
    return Stmts.seq(copies);
  }

  /** A copy of a body with one variable replaced and everything that it binds renewed. */
  private static final class Copy extends Rewriter {
    private final Map<Var, Expr> vars = new HashMap<>();
    private final Map<Buffer, Buffer> buffers = new HashMap<>();

    Copy(Var v, Expr value) {
      vars.put(v, value);
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
}
