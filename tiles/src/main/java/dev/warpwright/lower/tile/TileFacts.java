package dev.warpwright.lower.tile;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Leaves;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.grid.TileWaits;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/** What the passes ask about tile programs. */
final class TileFacts {
  private TileFacts() {}

  /** The buffers that a program writes anywhere. */
  static Set<Buffer> written(PrimFunc func) {
    Set<Buffer> written = new HashSet<>();
    Walk.statements(func.body(), s -> written.addAll(Leaves.of(s).writes()));
    return written;
  }

  /** Copies that stand behind a wait for a counter: what they read has been written by then. */
  static Set<Stmt.TileCopy> awaited(Stmt s) {
    Set<Stmt.TileCopy> found = Collections.newSetFromMap(new IdentityHashMap<>());
    Walk.statements(
        s,
        each -> {
          if (!(each instanceof Stmt.Seq(List<Stmt> stmts))) {
            return;
          }
          boolean behind = false;
          for (Stmt inner : stmts) {
            if (behind) {
              Walk.statements(
                  inner,
                  x -> {
                    if (x instanceof Stmt.TileCopy copy) {
                      found.add(copy);
                    }
                  });
            }
            behind |= TileWaits.isWait(inner);
          }
        });
    return found;
  }

  /** The statements of a body, nested sequences as one list. */
  static List<Stmt> flat(Stmt s) {
    return Stmts.seq(s) instanceof Stmt.Seq(List<Stmt> stmts) ? stmts : List.of(s);
  }

  /** Whether a region is all of its buffer. */
  static boolean isWhole(Region region) {
    return region.equals(Region.whole(region.buffer()));
  }

  static boolean mentions(Stmt s, Collection<Var> vars) {
    boolean[] found = {false};
    Walk.expressions(s, e -> found[0] |= e instanceof Var v && vars.contains(v));
    return found[0];
  }

  static boolean mentions(Expr e, Collection<Var> vars) {
    boolean[] found = {false};
    Walk.expressions(e, x -> found[0] |= x instanceof Var v && vars.contains(v));
    return found[0];
  }

  /** Whether a value is the same whenever and by whomever it is computed. */
  static boolean isPure(Expr e, Set<Buffer> written) {
    boolean[] pure = {true};
    Walk.expressions(
        e,
        x -> {
          switch (x) {
            case Expr.Load load ->
                pure[0] &=
                    load.buffer().scope() == Scope.GLOBAL && !written.contains(load.buffer());
            case Expr.Call call -> pure[0] &= call.op() instanceof dev.warpwright.ir.MathOp;
            default -> {}
          }
        });
    return pure[0];
  }

  /** The variables that a statement binds. */
  static Set<Var> bound(Stmt s) {
    Set<Var> vars = new HashSet<>();
    Walk.statements(
        s,
        inner -> {
          if (inner instanceof Stmt.For f) {
            vars.add(f.var());
          } else if (inner instanceof Stmt.Let l) {
            vars.add(l.var());
          }
        });
    return vars;
  }

  /** Bytes of a buffer's elements, gaps of the layout included. */
  static long bytes(Buffer buffer) {
    return buffer.storageElements() * buffer.dtype().bytes();
  }

  /**
   * Rewrites what one block does: what stands inside the loops that are bound to launch indices and
   * the values that they give, and inside the pipes around it if {@code throughPipes} says so.
   */
  static Stmt insideBlock(Stmt s, boolean throughPipes, UnaryOperator<Stmt> rewrite) {
    return switch (s) {
      case Stmt.For f when f.kind() == ForKind.THREAD_BOUND ->
          f.withBody(insideBlock(f.body(), throughPipes, rewrite));
      case Stmt.Let l ->
          new Stmt.Let(l.var(), l.value(), insideBlock(l.body(), throughPipes, rewrite));
      case Stmt.Seq(List<Stmt> stmts) when stmts.size() == 1 ->
          insideBlock(stmts.getFirst(), throughPipes, rewrite);
      case Stmt.Flow.PipeScope scope when throughPipes ->
          new Stmt.Flow.PipeScope(scope.pipe(), insideBlock(scope.body(), throughPipes, rewrite));
      default -> rewrite.apply(s);
    };
  }

  /** All loops of one kind inside, outermost first. */
  static List<Stmt.For> loops(Stmt s, ForKind kind) {
    List<Stmt.For> loops = new ArrayList<>();
    Walk.statements(
        s,
        inner -> {
          if (inner instanceof Stmt.For f && f.kind() == kind) {
            loops.add(f);
          }
        });
    return loops;
  }
}
