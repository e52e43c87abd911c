package dev.warpwright.lower.launch;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Lets a kernel begin before the launches before it have ended (programmatic dependent launch), and
 * wait for them as late as may be: where it first touches what is no constant. What is done once a
 * block, barriers and the copies of weights that stay in shared memory, is done by then, and the
 * rows that it reads first are on their way to L2.
 *
 * <pre>{@code
 *                                   launch_dependents
 * init full; weights -> shared      init full; weights -> shared
 * for item {                    →   prefetch.l2 x
 *   x -> registers; …               griddepcontrol.wait
 * }                                 for item {
 *                                     x -> registers; …
 *                                   }
 * }</pre>
 *
 * <p>Each of two branches waits for itself; threads that copy nothing but weights do not (with a
 * wait behind them ptxas spilled what 24 registers had held). A block that finds nothing to do
 * waits, too: a launch that ended without would say that those before it had ended. It is the last
 * pass, over kernels: what is constant is known where a program is put together.
 */
public final class LateWait {
  private final Set<String> constants;
  private final @Nullable Var thread;

  private LateWait(Kernel kernel, Set<String> constants) {
    this.constants = constants;
    this.thread = kernel.binding(ThreadAxis.THREAD_X).map(ThreadBinding::var).orElse(null);
  }

  /**
   * The kernel that begins early.
   *
   * @param constants names of its parameters that no launch writes
   * @return empty if it waits already, touches no constant ahead of the wait, or nothing else
   */
  public static Optional<Kernel> of(Kernel kernel, Set<String> constants) {
    LateWait pass = new LateWait(kernel, constants);
    if (LaunchOrder.overlaps(kernel) || !pass.touchesOthers(kernel.body())) {
      return Optional.empty();
    }
    Set<String> named = new TreeSet<>(constants);
    named.retainAll(kernel.buffers().stream().map(Buffer::name).toList());
    if (named.isEmpty()) {
      return Optional.empty();
    }
    Stmt body =
        Stmts.seq(Exprs.evaluate(HopperIntrinsics.SIGNAL_NEXT), pass.waiting(kernel.body(), true));
    return Optional.of(
        EarlyWeights.with(
            kernel, body, kernel.attrs().with(LaunchOrder.CONSTANTS, String.join(" ", named))));
  }

  /**
   * A statement with a wait ahead of all that it touches.
   *
   * @param last whether nothing behind it touches what launches may have written
   */
  private Stmt waiting(Stmt s, boolean last) {
    return switch (s) {
      case Stmt.Alloc(Buffer buffer, Stmt body) -> new Stmt.Alloc(buffer, waiting(body, last));
      case Stmt.Let let when !touches(let.value()) ->
          new Stmt.Let(let.var(), let.value(), waiting(let.body(), last));
      case Stmt.Seq(List<Stmt> stmts) -> waiting(stmts, last);
      case Stmt.If(Expr condition, Stmt then, @Nullable Stmt otherwise)
          when otherwise != null && parts(condition) ->
          new Stmt.If(condition, branch(then, last), branch(otherwise, last));
      default -> Stmts.seq(EarlyPrefetch.of(s, this::isOther), EarlyWeights.waiting(s));
    };
  }

  private Stmt waiting(List<Stmt> stmts, boolean last) {
    int first = 0;
    while (first < stmts.size() - 1 && !touchesOthers(stmts.get(first))) {
      first++;
    }
    List<Stmt> behind = stmts.subList(first + 1, stmts.size());
    boolean end = last && behind.stream().noneMatch(this::touchesOthers);
    return Stmts.seq(
        Stmts.seq(stmts.subList(0, first)), waiting(stmts.get(first), end), Stmts.seq(behind));
  }

  /** Threads that touch constants alone need not wait, if others of their block do. */
  private Stmt branch(Stmt s, boolean last) {
    return last && !touchesOthers(s) ? s : waiting(s, last);
  }

  /** Whether some of a block's threads go one way, and some the other. */
  private boolean parts(Expr condition) {
    boolean[] found = {false};
    Walk.expressions(condition, e -> found[0] |= e == thread);
    return found[0] && !touches(condition);
  }

  private boolean touchesOthers(Stmt s) {
    boolean[] found = {false};
    Walk.all(
        s,
        inner -> found[0] |= inner instanceof Stmt.Store store && isOther(store.buffer()),
        e -> found[0] |= isAccess(e));
    return found[0];
  }

  private boolean touches(Expr e) {
    boolean[] found = {false};
    Walk.expressions(e, inner -> found[0] |= isAccess(inner));
    return found[0];
  }

  private boolean isAccess(Expr e) {
    return e instanceof Expr.Load load && isOther(load.buffer())
        || e instanceof Expr.AddressOf address && isOther(address.buffer());
  }

  private boolean isOther(Buffer buffer) {
    return EarlyWeights.isGlobal(buffer) && !constants.contains(buffer.name());
  }
}
