package dev.warpwright.ir.arith;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Takes loads out of an expression, so that none is behind a branch: compilers make one of a select
 * with loads, and what is behind it waits for them, formula after formula. What is read then
 * depends on the condition, not whether.
 *
 * <pre>{@code
 * use(select(i < 64, -x[i + 64], x[i - 64]))
 *   →
 * let v = x[select(i < 64, i + 64, i - 64)]
 * use(select(i < 64, -v, v))
 * }</pre>
 */
public final class LoadsFirst extends Rewriter {
  private final Bounds bounds;
  private final List<Read> reads = new ArrayList<>();

  private LoadsFirst(Bounds bounds) {
    this.bounds = bounds;
  }

  /** A load that was taken out, and what stands for it. */
  private record Read(Buffer buffer, List<Expr> indices, Var value) {}

  /**
   * What uses an expression, behind its loads.
   *
   * @param e any
   * @param bounds of the variables in it
   * @param use of the expression without loads
   */
  public static Stmt of(Expr e, Bounds bounds, Function<Expr, Stmt> use) {
    LoadsFirst taken = new LoadsFirst(bounds);
    Stmt result = use.apply(taken.expr(e));
    for (Read read : taken.reads.reversed()) {
      result = new Stmt.Let(read.value(), new Expr.Load(read.buffer(), read.indices()), result);
    }
    return result;
  }

  @Override
  public Expr expr(Expr e) {
    return switch (e) {
      case Expr.Load(Buffer buffer, List<Expr> indices) ->
          value(
              buffer,
              indices.stream().map(this::expr).map(new Simplifier(bounds)::expr).toList(),
              new Var("read", e.type()));
      case Expr.Select(Expr condition, Expr then, Expr otherwise) -> {
        Expr decided = decided(expr(condition), bounds);
        if (decided instanceof Expr.IntImm imm) {
          yield expr(imm.value() != 0 ? then : otherwise);
        }
        yield select(decided, then, otherwise);
      }
      default -> super.expr(e);
    };
  }

  private Expr value(Buffer buffer, List<Expr> indices, Var value) {
    for (Read read : reads) {
      if (read.buffer() == buffer && read.indices().equals(indices)) {
        return read.value();
      }
    }
    reads.add(new Read(buffer, indices, value));
    return value;
  }

  /** Both sides read the same buffers as far as they do, the one that is meant at its place. */
  private Expr select(Expr condition, Expr then, Expr otherwise) {
    LoadsFirst yes = new LoadsFirst(bounds.assuming(condition));
    LoadsFirst no = new LoadsFirst(bounds.assumingNot(condition));
    Expr one = yes.expr(then);
    Expr other = no.expr(otherwise);
    Map<Var, Expr> values = new HashMap<>();
    List<Read> left = new ArrayList<>(no.reads);
    for (Read read : yes.reads) {
      Read pair =
          left.stream().filter(each -> each.buffer() == read.buffer()).findFirst().orElse(null);
      left.remove(pair);
      List<Expr> indices = pair == null ? zeros(read) : pair.indices();
      Expr value = value(read.buffer(), selected(condition, read.indices(), indices), read.value());
      values.put(read.value(), value);
      if (pair != null) {
        values.put(pair.value(), value);
      }
    }
    for (Read read : left) {
      values.put(
          read.value(),
          value(read.buffer(), selected(condition, zeros(read), read.indices()), read.value()));
    }
    Substitution taken = Substitution.ofVars(values);
    return new Expr.Select(condition, taken.expr(one), taken.expr(other));
  }

  /** An element that is there, for who reads none. */
  private static List<Expr> zeros(Read read) {
    return read.indices().stream().map(index -> (Expr) Exprs.i32(0)).toList();
  }

  private static List<Expr> selected(Expr condition, List<Expr> then, List<Expr> otherwise) {
    List<Expr> selected = new ArrayList<>();
    for (int i = 0; i < then.size(); i++) {
      selected.add(
          then.get(i).equals(otherwise.get(i))
              ? then.get(i)
              : new Expr.Select(condition, then.get(i), otherwise.get(i)));
    }
    return selected;
  }

  /** A condition on what was selected is the selection's own, where both sides decide it. */
  private static Expr decided(Expr condition, Bounds bounds) {
    Expr simple = new Simplifier(bounds).expr(condition);
    Expr.Select[] inner = new Expr.Select[1];
    Walk.expressions(
        simple,
        e -> {
          if (inner[0] == null && e instanceof Expr.Select select) {
            inner[0] = select;
          }
        });
    if (inner[0] == null) {
      return simple;
    }
    Expr of = inner[0].condition();
    Expr then = replaced(simple, inner[0], inner[0].then(), bounds.assuming(of));
    Expr otherwise = replaced(simple, inner[0], inner[0].otherwise(), bounds.assumingNot(of));
    if (then instanceof Expr.IntImm yes && otherwise instanceof Expr.IntImm no) {
      boolean same = yes.value() == no.value();
      return same ? yes : yes.value() != 0 ? of : Simplifier.negate(of);
    }
    return simple;
  }

  private static Expr replaced(Expr in, Expr.Select old, Expr by, Bounds bounds) {
    Expr replaced =
        new Rewriter() {
          @Override
          public Expr expr(Expr e) {
            return e.equals(old) ? by : super.expr(e);
          }
        }.expr(in);
    return new Simplifier(bounds).expr(replaced);
  }
}
