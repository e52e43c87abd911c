package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Puts a block barrier before every tile statement that reads shared memory which another thread
 * may have written since the last barrier, or writes what another may have read or written.
 *
 * <p>It stands after the plan of shared memory, because buffers that share space conflict too, and
 * before tiles become threads, because a tile statement is executed by all threads and barriers
 * between tile statements cannot diverge.
 */
final class BarrierInsertion {
  private final SharedPlan plan;

  BarrierInsertion(SharedPlan plan) {
    this.plan = plan;
  }

  /** What has happened to shared memory since the last barrier. */
  private record State(Set<Buffer> reads, Set<Buffer> writes) {
    static State empty() {
      return new State(new LinkedHashSet<>(), new LinkedHashSet<>());
    }

    State copy() {
      return new State(new LinkedHashSet<>(reads), new LinkedHashSet<>(writes));
    }

    void addAll(State other) {
      reads.addAll(other.reads);
      writes.addAll(other.writes);
    }

    void clear() {
      reads.clear();
      writes.clear();
    }
  }

  Stmt apply(Stmt body) {
    return visit(body, State.empty());
  }

  private Stmt visit(Stmt s, State state) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> {
        List<Stmt> result = new ArrayList<>();
        for (Stmt inner : stmts) {
          result.add(visit(inner, state));
        }
        yield Stmts.seq(result);
      }
      case Stmt.For loop -> {
        // The second iteration meets what the first one left behind.
        State once = state.copy();
        visit(loop.body(), once);
        state.addAll(once);
        yield loop.withBody(visit(loop.body(), state));
      }
      case Stmt.Alloc(Buffer buffer, Stmt inner) -> new Stmt.Alloc(buffer, visit(inner, state));
      case Stmt.Let let -> new Stmt.Let(let.var(), let.value(), visit(let.body(), state));
      case Stmt.If branch ->
          throw new LoweringException("a tile program may not branch around tile statements");
      case Stmt.While loop ->
          throw new LoweringException("a tile program may not have a while loop");
      case Stmt.Block block ->
          throw new LoweringException(
              "block " + block.name() + " was not turned into a tile statement");
      case Stmt.Comment comment -> comment;
      case Stmt.Store leaf -> leaf(leaf, state);
      case Stmt.Evaluate leaf -> leaf(leaf, state);
      case Stmt.TileCopy leaf -> leaf(leaf, state);
      case Stmt.TileFill leaf -> leaf(leaf, state);
      case Stmt.TileMma leaf -> leaf(leaf, state);
      case Stmt.TileMap leaf -> leaf(leaf, state);
      case Stmt.TileReduce leaf -> leaf(leaf, state);
      case Stmt.Flow flow ->
          throw new LoweringException("pipes, roles and signals are not lowered here");
    };
  }

  private Stmt leaf(Stmt leaf, State state) {
    Accesses accesses = Accesses.of(leaf);
    boolean conflict =
        conflicts(accesses.reads(), state.writes())
            || conflicts(accesses.writes(), state.writes())
            || conflicts(accesses.writes(), state.reads());
    if (conflict) {
      state.clear();
    }
    shared(accesses.reads(), state.reads());
    shared(accesses.writes(), state.writes());
    return conflict ? Stmts.seq(Exprs.evaluate(Intrinsics.SYNC_THREADS), leaf) : leaf;
  }

  private boolean conflicts(Set<Buffer> ours, Set<Buffer> earlier) {
    for (Buffer a : ours) {
      if (a.scope() == Scope.SHARED) {
        for (Buffer b : earlier) {
          if (plan.place(a).overlaps(plan.place(b))) {
            return true;
          }
        }
      }
    }
    return false;
  }

  private static void shared(Set<Buffer> touched, Set<Buffer> into) {
    for (Buffer buffer : touched) {
      if (buffer.scope() == Scope.SHARED) {
        into.add(buffer);
      }
    }
  }
}
