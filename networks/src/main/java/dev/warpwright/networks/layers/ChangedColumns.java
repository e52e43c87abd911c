package dev.warpwright.networks.layers;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.model.function.NetworkFunction.Update;
import dev.warpwright.networks.stages.StageFormula;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.workload.tensor.PrimFuncs;
import dev.warpwright.workload.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * An output that is an input but for some columns, where it has the input's memory or began as its
 * copy: only those columns are computed. Each row of the network is as many rows as there are
 * groups of columns.
 *
 * <pre>{@code
 * for m, j in M, groups * columns { h[m, j] = f(m, j) }
 * for m, c in M, groups * stride { y[m, c] = c is changed ? h[m, …] : x[m, c] }
 *   →
 * for r, d in M * groups, columns {
 *   y[r, first + d] = f(r / groups, r % groups * columns + d)      y: [M * groups, stride]
 * }
 * }</pre>
 */
public final class ChangedColumns {
  private final StageGroup group;
  private final Update update;

  private ChangedColumns(StageGroup group, Update update) {
    this.group = group;
    this.update = update;
  }

  /**
   * The columns' function. Its last buffer is the output in another shape.
   *
   * @param group of the output alone, or of what it is made of and itself
   */
  public static StageGroup of(StageGroup group) {
    return new ChangedColumns(group, (Update) group.stages().getLast()).changed();
  }

  private StageGroup changed() {
    Buffer whole = update.to();
    Expr rows = Exprs.mul(whole.shape().getFirst(), update.groups());
    List<Expr> shape = List.of(rows, Exprs.i32(update.columns()));
    Tensor made =
        Tensor.compute(
            whole.name() + "_changed",
            whole.dtype(),
            shape,
            v ->
                added(
                    Exprs.div(v.get(0), update.groups()),
                    Exprs.add(
                        Exprs.mul(Exprs.mod(v.get(0), update.groups()), update.columns()),
                        v.get(1))));
    Tensor dense =
        Tensor.compute(whole.name(), whole.dtype(), shape, v -> made.at(v.get(0), v.get(1)));
    Buffer view =
        Buffer.of(
            whole.name(), whole.dtype(), Scope.GLOBAL, List.of(rows, Exprs.i32(update.stride())));
    List<Param> params = new ArrayList<>();
    Walk.expressions(
        added(Var.index("m"), Var.index("j")),
        e -> {
          if (e instanceof Expr.Load load && !params.contains(load.buffer())) {
            params.add(load.buffer());
          }
        });
    params.add(dense.buffer());
    params.add(group.func().params().getLast());
    PrimFunc func = PrimFuncs.of(group.func().name(), params, List.of(made, dense));
    params.set(params.size() - 2, view);
    return new StageGroup(
        new PrimFunc(func.name(), params, placed(func.body(), dense.buffer(), view), func.attrs()),
        List.of(
            new Map(made.name(), made.buffer(), true, null),
            new Store(dense.name(), made.buffer(), view)),
        List.of(view));
  }

  /** Writes at the columns' place in the output. */
  private Stmt placed(Stmt body, Buffer dense, Buffer view) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        return switch (s) {
          case Stmt.Store store when store.buffer() == dense ->
              new Stmt.Store(view, at(store.indices()), store.value());
          case Stmt.Block block ->
              new Stmt.Block(
                  block.name(),
                  block.iterVars(),
                  block.predicate(),
                  block.reads(),
                  block.writes().stream()
                      .map(region -> region.buffer() == dense ? moved(region, view) : region)
                      .toList(),
                  block.init(),
                  stmt(block.body()),
                  block.attrs());
          default -> super.stmt(s);
        };
      }
    }.stmt(body);
  }

  private List<Expr> at(List<Expr> indices) {
    return List.of(indices.get(0), Exprs.add(indices.get(1), update.first()));
  }

  private Region moved(Region dense, Buffer view) {
    Range columns = dense.ranges().get(1);
    return new Region(
        view,
        List.of(
            dense.ranges().get(0),
            new Range(Exprs.add(columns.min(), update.first()), columns.extent())));
  }

  /** What takes the columns' place: read, or as the stage before computes it. */
  private Expr added(Expr row, Expr column) {
    Stage first = group.stages().getFirst();
    if (!(first instanceof Map map)) {
      return new Expr.Load(update.from(), List.of(row, column));
    }
    return StageFormula.at(group.func(), map.block(), row, column);
  }
}
