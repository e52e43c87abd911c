package dev.warpwright.ir.visit;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Visits every node of a tree, parents before children, in the order of the text form. */
public final class Walk {
  private final Consumer<Stmt> onStmt;

  /** Null if only statements are visited: most of a tree is expressions, which contain none. */
  private final @Nullable Consumer<Expr> onExpr;

  private Walk(Consumer<Stmt> onStmt, @Nullable Consumer<Expr> onExpr) {
    this.onStmt = onStmt;
    this.onExpr = onExpr;
  }

  /**
   * Shows a statement and all statements in it, outer ones first.
   *
   * @param root where to begin
   * @param onStmt is shown each
   */
  public static void statements(Stmt root, Consumer<Stmt> onStmt) {
    new Walk(onStmt, null).stmt(root);
  }

  /**
   * All expressions in a statement, those of regions and loop bounds included.
   *
   * @param root where to begin
   * @param onExpr is shown each
   */
  public static void expressions(Stmt root, Consumer<Expr> onExpr) {
    new Walk(s -> {}, onExpr).stmt(root);
  }

  /**
   * Shows an expression and all expressions in it.
   *
   * @param root where to begin
   * @param onExpr is shown each
   */
  public static void expressions(Expr root, Consumer<Expr> onExpr) {
    new Walk(s -> {}, onExpr).expr(root);
  }

  /**
   * Shows all statements and all expressions in a statement.
   *
   * @param root where to begin
   * @param onStmt is shown each statement
   * @param onExpr is shown each expression
   */
  public static void all(Stmt root, Consumer<Stmt> onStmt, Consumer<Expr> onExpr) {
    new Walk(onStmt, onExpr).stmt(root);
  }

  private void expr(Expr e) {
    if (onExpr == null) {
      return;
    }
    onExpr.accept(e);
    switch (e) {
      case Var v -> {}
      case Expr.IntImm imm -> {}
      case Expr.FloatImm imm -> {}
      case Expr.Binary b -> {
        expr(b.a());
        expr(b.b());
      }
      case Expr.Unary u -> expr(u.a());
      case Expr.Select s -> {
        expr(s.condition());
        expr(s.then());
        expr(s.otherwise());
      }
      case Expr.Cast c -> expr(c.a());
      case Expr.Bitcast c -> expr(c.a());
      case Expr.Load l -> exprs(l.indices());
      case Expr.AddressOf a -> exprs(a.indices());
      case Expr.Ramp r -> expr(r.base());
      case Expr.Broadcast b -> expr(b.value());
      case Expr.Call c -> exprs(c.args());
    }
  }

  private void exprs(List<Expr> list) {
    list.forEach(this::expr);
  }

  private void region(Region region) {
    for (Range range : region.ranges()) {
      expr(range.min());
      expr(range.extent());
    }
  }

  private void stmt(Stmt s) {
    onStmt.accept(s);
    switch (s) {
      case Stmt.Seq seq -> seq.stmts().forEach(this::stmt);
      case Stmt.For f -> {
        expr(f.min());
        expr(f.extent());
        stmt(f.body());
      }
      case Stmt.While w -> {
        expr(w.condition());
        stmt(w.body());
      }
      case Stmt.If i -> {
        expr(i.condition());
        stmt(i.then());
        if (i.otherwise() != null) {
          stmt(i.otherwise());
        }
      }
      case Stmt.Let l -> {
        expr(l.value());
        stmt(l.body());
      }
      case Stmt.Alloc a -> {
        exprs(a.buffer().shape());
        stmt(a.body());
      }
      case Stmt.Store st -> {
        exprs(st.indices());
        expr(st.value());
      }
      case Stmt.Evaluate e -> expr(e.call());
      case Stmt.Comment c -> {}
      case Stmt.Block b -> {
        for (IterVar iterVar : b.iterVars()) {
          expr(iterVar.extent());
          expr(iterVar.binding());
        }
        if (b.predicate() != null) {
          expr(b.predicate());
        }
        b.reads().forEach(this::region);
        b.writes().forEach(this::region);
        if (b.init() != null) {
          stmt(b.init());
        }
        stmt(b.body());
      }
      case Stmt.TileCopy c -> {
        region(c.to());
        region(c.from());
      }
      case Stmt.TileFill f -> {
        region(f.to());
        expr(f.value());
      }
      case Stmt.TileMma m -> {
        region(m.c());
        region(m.a());
        region(m.b());
      }
      case Stmt.TileMap m -> {
        exprs(m.extents());
        m.stores().forEach(this::stmt);
      }
      case Stmt.TileReduce r -> {
        exprs(r.extents());
        exprs(r.reduceExtents());
        exprs(r.indices());
        expr(r.value());
      }
      case Stmt.Flow flow -> flow(flow);
    }
  }

  private void flow(Stmt.Flow s) {
    switch (s) {
      case Stmt.Flow.PipeScope p -> {
        p.pipe().buffers().forEach(buffer -> exprs(buffer.shape()));
        stmt(p.body());
      }
      case Stmt.Flow.Produce p -> stmt(p.body());
      case Stmt.Flow.Consume c -> stmt(c.body());
      case Stmt.Flow.Skip skip -> expr(skip.count());
      case Stmt.Flow.Roles roles -> roles.roles().forEach(role -> stmt(role.body()));
      case Stmt.Flow.Signal signal -> {
        exprs(signal.indices());
        expr(signal.by());
      }
      case Stmt.Flow.Await await -> {
        exprs(await.indices());
        expr(await.atLeast());
      }
      case Stmt.Flow.Combine c -> {
        exprs(List.of(c.slot(), c.part(), c.parts()));
        stmt(c.body());
      }
      case Stmt.Flow.AwaitPrevious _, Stmt.Flow.SignalNext _ -> {}
    }
  }
}
