package dev.warpwright.lower.simt;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Puts a block barrier before every nest of threads that reads memory which another thread of the
 * block may have written since the last barrier, or writes what another may have read or written.
 * Threads of one nest do not meet each other's data, so a barrier is never inside one, and cannot
 * diverge.
 *
 * <p>A loop that {@link PipelineLoops} made has its barriers already, and needs none before it.
 */
final class ThreadBarriers {
  /** On a loop: its barriers are in place. */
  static final String PLACED = "barriers";

  private ThreadBarriers() {}

  /** What has happened to memory since the last barrier. */
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

    boolean conflicts(State later) {
      return later.reads.stream().anyMatch(writes::contains)
          || later.writes.stream().anyMatch(b -> writes.contains(b) || reads.contains(b));
    }
  }

  static Stmt apply(Stmt body) {
    return visit(body, State.empty());
  }

  private static Stmt visit(Stmt s, State state) {
    return switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> {
        List<Stmt> result = new ArrayList<>();
        for (Stmt inner : stmts) {
          result.add(visit(inner, state));
        }
        yield Stmts.seq(result);
      }
      case Stmt.For loop when loop.attrs().has(PLACED) -> {
        state.addAll(touched(loop));
        yield loop.withAttrs(PipelineLoops.kept(loop));
      }
      case Stmt.For loop when isNest(loop) -> nest(loop, state);
      case Stmt.For loop when loop.kind() == ForKind.THREAD_BOUND ->
          loop.withBody(visit(loop.body(), state));
      case Stmt.For loop -> {
        // The second iteration meets what the first one left behind.
        State once = state.copy();
        visit(loop.body(), once);
        state.addAll(once);
        yield loop.withBody(visit(loop.body(), state));
      }
      case Stmt.Alloc(Buffer buffer, Stmt inner) -> new Stmt.Alloc(buffer, visit(inner, state));
      case Stmt.Let let -> new Stmt.Let(let.var(), let.value(), visit(let.body(), state));
      case Stmt.If(Expr condition, Stmt then, Stmt otherwise) -> {
        State other = state.copy();
        Stmt first = visit(then, state);
        Stmt second = otherwise == null ? null : visit(otherwise, other);
        state.addAll(other);
        yield new Stmt.If(condition, first, second);
      }
      case Stmt.Evaluate(Expr.Call call) when call.op() == Intrinsics.SYNC_THREADS -> {
        state.clear();
        yield s;
      }
      default -> nest(s, state);
    };
  }

  private static Stmt nest(Stmt nest, State state) {
    State touched = touched(nest);
    boolean conflict = state.conflicts(touched);
    if (conflict) {
      state.clear();
    }
    state.addAll(touched);
    return conflict ? Stmts.seq(Exprs.evaluate(Intrinsics.SYNC_THREADS), nest) : nest;
  }

  private static boolean isNest(Stmt.For loop) {
    return loop.axis() != null && !loop.axis().isBlock();
  }

  private static State touched(Stmt nest) {
    State touched = State.empty();
    Walk.all(
        nest,
        s -> {
          if (s instanceof Stmt.Store store) {
            add(store.buffer(), touched.writes());
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            add(load.buffer(), touched.reads());
          } else if (e instanceof Expr.AddressOf address) {
            add(address.buffer(), touched.reads());
            if (address.buffer().scope() == Scope.SHARED) {
              add(address.buffer(), touched.writes());
            }
          }
        });
    return touched;
  }

  private static void add(Buffer buffer, Set<Buffer> set) {
    if (buffer.scope() != Scope.LOCAL) {
      set.add(buffer);
    }
  }
}
