package dev.warpwright.lower.pass;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.GuardedRewriter;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Replaces f32 functions by additions, multiplications and selects (see {@link MathExpansions}), so
 * that scalars, lanes and every executor compute the same bits.
 *
 * <p>Guarantees: exp, exp2, tanh, erf, sin, cos, log, floor and ceil of f32 are gone, except on the
 * side of a select that guards a load, and except sin and cos of arguments above 10⁵, which stay
 * calls on a side that is rarely taken.
 *
 * <p>Stands before {@link VectorizeLoops}: the values that an expansion uses several times become
 * lets, and those become vectors with the loop.
 */
public final class ExpandMath extends GuardedRewriter {
  private final List<Stmt.Let> lets = new ArrayList<>();

  private ExpandMath() {}

  /**
   * {@return a body in which f32 functions are written out as additions, multiplications and
   * selects}
   *
   * @param body of a kernel
   */
  public static Stmt apply(Stmt body) {
    return new ExpandMath().stmt(body);
  }

  @Override
  public Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Store store -> {
        int mark = lets.size();
        List<Expr> indices = exprs(store.indices());
        Expr value = expr(store.value());
        boolean changed = indices != store.indices() || value != store.value();
        yield changed ? wrap(take(mark), new Stmt.Store(store.buffer(), indices, value)) : s;
      }
      case Stmt.Let l -> {
        int mark = lets.size();
        Expr value = expr(l.value());
        List<Stmt.Let> mine = take(mark);
        Stmt body = stmt(l.body());
        boolean changed = value != l.value() || body != l.body();
        yield changed ? wrap(mine, new Stmt.Let(l.var(), value, body)) : s;
      }
      default -> super.stmt(s);
    };
  }

  private List<Stmt.Let> take(int mark) {
    List<Stmt.Let> tail = lets.subList(mark, lets.size());
    List<Stmt.Let> mine = List.copyOf(tail);
    tail.clear();
    return mine;
  }

  private static Stmt wrap(List<Stmt.Let> mine, Stmt s) {
    Stmt result = s;
    for (Stmt.Let let : mine.reversed()) {
      result = new Stmt.Let(let.var(), let.value(), result);
    }
    return result;
  }

  @Override
  public Expr expr(Expr e) {
    if (e instanceof Expr.Call(MathOp op, List<Expr> args, Type type)
        && type.dtype() == DType.F32
        && MathExpansions.has(op)
        && !(isGuarded() && loads(args.getFirst()))) {
      Expr x = expr(args.getFirst());
      return MathExpansions.expand(op, x, let());
    }
    return super.expr(e);
  }

  private static boolean loads(Expr e) {
    boolean[] found = {false};
    Walk.expressions(e, x -> found[0] |= x instanceof Expr.Load);
    return found[0];
  }

  private UnaryOperator<Expr> let() {
    return value -> {
      if (value instanceof Var) {
        return value;
      }
      Var v = new Var("t" + lets.size(), value.type());
      lets.add(new Stmt.Let(v, value, Stmt.Seq.EMPTY));
      return v;
    };
  }
}
