package dev.warpwright.lower.simt;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Makes the variables of bound loops indices of the launch, one for each axis, however many nests
 * are bound to it.
 *
 * <p>Guarantees: no bound loop is left, and every store is executed by every thread of the launch.
 */
final class ThreadIndices extends Rewriter {
  private final Map<ThreadAxis, ThreadBinding> bindings = new EnumMap<>(ThreadAxis.class);
  private final Set<ThreadAxis> around = EnumSet.noneOf(ThreadAxis.class);
  private Stmt body = Stmt.Seq.EMPTY;

  private ThreadIndices() {}

  /**
   * Unifies the bound loops of a program.
   *
   * @throws LoweringException if there is none, if they do not agree, or if a store is not in one
   */
  static ThreadIndices of(String name, Stmt program) {
    ThreadIndices pass = new ThreadIndices();
    Walk.statements(
        program,
        s -> {
          if (s instanceof Stmt.For loop && loop.axis() != null) {
            pass.declare(loop, loop.axis());
          }
        });
    if (pass.bindings.isEmpty()) {
      throw new LoweringException(name + " has no loop bound to a launch index");
    }
    pass.body = pass.stmt(program);
    return pass;
  }

  /** Blocks first, each from x on. */
  List<ThreadBinding> bindings() {
    return new ArrayList<>(bindings.values());
  }

  /** The program of one thread. */
  Stmt body() {
    return body;
  }

  private void declare(Stmt.For loop, ThreadAxis axis) {
    if (!Exprs.isConst(loop.min(), 0)) {
      throw new LoweringException(
          "loop " + loop.var() + " bound to " + axis.text() + " starts at " + loop.min());
    }
    ThreadBinding known = bindings.get(axis);
    if (known == null) {
      String name = (axis.isBlock() ? "b" : "t") + "xyz".charAt(axis.dimension());
      bindings.put(axis, new ThreadBinding(axis, new Var(name, loop.var().type()), loop.extent()));
    } else if (!known.extent().equals(loop.extent())) {
      throw new LoweringException(
          "loops bound to "
              + axis.text()
              + " have the extents "
              + known.extent()
              + " and "
              + loop.extent());
    }
  }

  @Override
  public Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.For loop when loop.kind() == ForKind.THREAD_BOUND && loop.axis() != null -> {
        ThreadBinding binding = bindings.get(loop.axis());
        if (binding == null || !around.add(loop.axis())) {
          throw new LoweringException(
              "loop " + loop.var() + " is inside another one bound to " + loop.axis().text());
        }
        Expr index = binding.var();
        Stmt inner = stmt(Substitution.ofVars(Map.of(loop.var(), index)).stmt(loop.body()));
        around.remove(loop.axis());
        yield inner;
      }
      case Stmt.Store store -> {
        requireAll(store.buffer(), "a store to " + store.buffer().name());
        yield store;
      }
      default -> super.stmt(s);
    };
  }

  private void requireAll(Buffer buffer, String what) {
    for (ThreadAxis axis : bindings.keySet()) {
      // Local buffers are every thread's own, so that more threads do no harm.
      if (!around.contains(axis) && !(buffer.scope() == Scope.LOCAL && !axis.isBlock())) {
        throw new LoweringException(what + " is not inside a loop bound to " + axis.text());
      }
    }
  }
}
