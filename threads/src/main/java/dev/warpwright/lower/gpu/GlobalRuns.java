package dev.warpwright.lower.gpu;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * A formula for several neighbouring columns, whose elements of global memory come in as few
 * accesses as there can be. A kernel of few rows runs once: each instruction of it comes from
 * memory, too.
 *
 * <pre>{@code
 * f(x[i, 8 * t + v], w[8 * t + v])   →   x8 = x[i, 8 * t … 8 * t + 7];  w8 = …
 * for v in 8                             for v in 8 { f(x8[v], w8[v]) }
 * }</pre>
 */
public final class GlobalRuns {
  /** Bytes of an access. */
  private static final int ACCESS = 16;

  private static final int[] LANES = {8, 4, 2};

  private final Expr value;
  private final Var along;
  private final int lanes;
  private final List<Expr.Load> loads;

  private GlobalRuns(Expr value, Var along, int lanes, List<Expr.Load> loads) {
    this.value = value;
    this.along = along;
    this.lanes = lanes;
    this.loads = loads;
  }

  /**
   * The longest runs of columns of a formula.
   *
   * @param along the column
   * @param count of columns that a block computes
   * @param threads that share them evenly
   * @return of length 1 if nothing is gained
   */
  public static GlobalRuns of(Expr value, Var along, long count, int threads) {
    for (int lanes : LANES) {
      if (count % ((long) lanes * threads) == 0) {
        List<Expr.Load> loads = loads(value, along, lanes);
        if (loads.stream().anyMatch(load -> lanes * load.buffer().dtype().bytes() <= ACCESS)) {
          return new GlobalRuns(value, along, lanes, loads);
        }
      }
    }
    return new GlobalRuns(value, along, 1, List.of());
  }

  /**
   * Runs of so many columns.
   *
   * @param along the column
   */
  static GlobalRuns of(Expr value, Var along, int lanes) {
    return new GlobalRuns(value, along, lanes, loads(value, along, lanes));
  }

  /** A run of registers to where {@link #isRun} holds. */
  static Stmt stored(Buffer made, Buffer to, List<Expr> indices) {
    int lanes = (int) made.extent(0);
    int step = Math.min(lanes, ACCESS / made.dtype().bytes());
    List<Stmt> stmts = new ArrayList<>();
    for (int at = 0; at < lanes; at += step) {
      List<Expr> place = new ArrayList<>(indices);
      place.set(place.size() - 1, Exprs.add(indices.getLast(), at));
      stmts.add(ThreadCode.move(to, place, made, List.of(Exprs.i32(at)), step));
    }
    return Stmts.seq(stmts);
  }

  /** {@return columns of a run} */
  public int lanes() {
    return lanes;
  }

  /**
   * The run that begins at a column.
   *
   * @param first a multiple of {@link #lanes}
   * @param each what to do with an element: its number in the run, and its value
   */
  public Stmt at(Expr first, BiFunction<Expr, Expr, Stmt> each) {
    Map<Expr.Load, Buffer> held = new LinkedHashMap<>();
    List<Stmt> stmts = new ArrayList<>();
    for (Expr.Load load : loads) {
      Buffer from = load.buffer();
      Buffer run = Buffer.of("run", from.dtype(), Scope.LOCAL, lanes);
      held.put(load, run);
      int step = Math.min(lanes, ACCESS / from.dtype().bytes());
      for (int at = 0; at < lanes; at += step) {
        Substitution place = Substitution.ofVars(Map.of(along, Exprs.add(first, at)));
        stmts.add(
            ThreadCode.move(
                run,
                List.of(Exprs.i32(at)),
                from,
                load.indices().stream().map(place::expr).toList(),
                step));
      }
    }
    stmts.add(
        Stmts.loop(
            ForKind.UNROLLED,
            "v",
            lanes,
            v -> {
              Expr element =
                  new Rewriter() {
                    @Override
                    public Expr expr(Expr e) {
                      Buffer run = e instanceof Expr.Load load ? held.get(load) : null;
                      return run == null ? super.expr(e) : new Expr.Load(run, List.of(v));
                    }
                  }.expr(value);
              Substitution place = Substitution.ofVars(Map.of(along, Exprs.add(first, v)));
              return each.apply(v, place.expr(element));
            }));
    return Stmts.alloc(List.copyOf(held.values()), Stmts.seq(stmts));
  }

  /** What is read whatever the elements are: a choice may keep one from being read outside. */
  private static List<Expr.Load> loads(Expr value, Var along, int lanes) {
    Set<Expr.Load> found = new LinkedHashSet<>();
    new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        if (e instanceof Expr.Select select) {
          expr(select.condition());
          return e;
        }
        if (e instanceof Expr.Load load
            && load.buffer().scope() == Scope.GLOBAL
            && isRun(load.buffer(), load.indices(), along, lanes)) {
          found.add(load);
        }
        return super.expr(e);
      }
    }.expr(value);
    return List.copyOf(found);
  }

  /**
   * Whether neighbouring columns are neighbours in memory, and so many of them aligned.
   *
   * @param indices of an element, at the column {@code along}
   */
  static boolean isRun(Buffer buffer, List<Expr> indices, Var along, int lanes) {
    int bytes = Math.min(ACCESS, lanes * buffer.dtype().bytes());
    if (buffer.alignment() < bytes
        || buffer.dtype().bytes() < 2
        || !runs(indices.getLast(), along, lanes)
        || indices.subList(0, indices.size() - 1).stream().anyMatch(i -> mentions(i, along))) {
      return false;
    }
    if (buffer.rank() == 1) {
      return buffer.layout() == null;
    }
    long pitch =
        buffer.layout() == null
            ? buffer.shape().getLast() instanceof Expr.IntImm extent ? extent.value() : 1
            : buffer.rank() == 2 ? buffer.layout().offset(1, 0) : 1;
    return pitch % lanes == 0;
  }

  private static boolean runs(Expr index, Var along, int lanes) {
    if (index == along) {
      return true;
    }
    if (!(index instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)) || op != BinaryOp.ADD) {
      return false;
    }
    return runs(a, along, lanes) && !mentions(b, along) && CopyLowering.multipleOf(b, lanes)
        || runs(b, along, lanes) && !mentions(a, along) && CopyLowering.multipleOf(a, lanes);
  }

  private static boolean mentions(Expr e, Var var) {
    boolean[] found = {false};
    Walk.expressions(e, inner -> found[0] |= inner == var);
    return found[0];
  }
}
