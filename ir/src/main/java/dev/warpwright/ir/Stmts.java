package dev.warpwright.ir;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Makes statements. */
public final class Stmts {
  private Stmts() {}

  /**
   * {@return the statements in order, nested sequences flattened, a single one unwrapped}
   *
   * @param stmts in the order of execution
   */
  public static Stmt seq(List<? extends Stmt> stmts) {
    List<Stmt> flat = new ArrayList<>();
    for (Stmt s : stmts) {
      if (s instanceof Stmt.Seq(List<Stmt> inner)) {
        flat.addAll(inner);
      } else {
        flat.add(s);
      }
    }
    return flat.size() == 1 ? flat.getFirst() : new Stmt.Seq(flat);
  }

  /**
   * {@return the statements in order, as {@link #seq(List)}}
   *
   * @param stmts in the order of execution
   */
  public static Stmt seq(Stmt... stmts) {
    return seq(List.of(stmts));
  }

  /**
   * {@return a loop over {@code 0 ≤ name < extent}; one iteration is written out without the loop}
   *
   * @param kind how iterations are executed
   * @param name of the loop's variable
   * @param extent iterations, at least 1
   * @param body makes one of the variable
   */
  public static Stmt loop(ForKind kind, String name, long extent, Function<Expr, Stmt> body) {
    if (extent == 1) {
      return body.apply(Exprs.i32(0));
    }
    Var v = Var.index(name);
    return Stmt.For.of(kind, v, Exprs.i32(extent), body.apply(v));
  }

  /**
   * {@return the statements directly inside, in the order of the text}
   *
   * @param s any statement
   */
  public static List<Stmt> children(Stmt s) {
    return switch (s) {
      case Stmt.Seq seq -> seq.stmts();
      case Stmt.For loop -> List.of(loop.body());
      case Stmt.While loop -> List.of(loop.body());
      case Stmt.If branch -> {
        Stmt otherwise = branch.otherwise();
        yield otherwise == null ? List.of(branch.then()) : List.of(branch.then(), otherwise);
      }
      case Stmt.Let let -> List.of(let.body());
      case Stmt.Alloc alloc -> List.of(alloc.body());
      case Stmt.Block block -> {
        Stmt init = block.init();
        yield init == null ? List.of(block.body()) : List.of(init, block.body());
      }
      case Stmt.Flow.PipeScope pipe -> List.of(pipe.body());
      case Stmt.Flow.Produce produce -> List.of(produce.body());
      case Stmt.Flow.Consume consume -> List.of(consume.body());
      case Stmt.Flow.Combine combine -> List.of(combine.body());
      case Stmt.Flow.Roles roles -> roles.roles().stream().map(Role::body).toList();
      case Stmt.Flow.Skip _, Stmt.Flow.Signal _, Stmt.Flow.Await _ -> List.of();
      case Stmt.Flow.AwaitPrevious _, Stmt.Flow.SignalNext _ -> List.of();
      case Stmt.Store _, Stmt.Evaluate _, Stmt.Comment _ -> List.of();
      case Stmt.TileCopy _, Stmt.TileFill _, Stmt.TileMma _ -> List.of();
      case Stmt.TileMap _, Stmt.TileReduce _ -> List.of();
    };
  }

  /**
   * {@return allocations around a body, the first outermost}
   *
   * @param buffers of scopes that can be allocated
   * @param body where they may be used
   */
  public static Stmt alloc(List<Buffer> buffers, Stmt body) {
    Stmt result = body;
    for (Buffer buffer : buffers.reversed()) {
      result = new Stmt.Alloc(buffer, result);
    }
    return result;
  }

  /**
   * {@return {@code then} where the condition holds; {@code then} alone where it is constantly
   * true}
   *
   * @param condition scalar bool
   * @param then what is guarded
   */
  public static Stmt when(Expr condition, Stmt then) {
    return Exprs.isConst(condition, 1) ? then : new Stmt.If(condition, then, null);
  }
}
