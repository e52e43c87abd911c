package dev.warpwright.lower.launch;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.CacheHints;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Lets a kernel begin before the launches before it have ended, and wait for them at once. */
public final class EarlyStart {
  /** Bytes that are asked for at once. */
  private static final int LINE = 128;

  private EarlyStart() {}

  /**
   * The kernel that is launched while the launches before it still run, and waits for them before
   * it reads or writes anything: where its roles part, if barriers are made ready until then, or
   * where it begins. The launch behind it may begin as early. Short vectors that no launch writes
   * are on their way to L2 meanwhile: a norm, which reads its weights behind its sums, would wait
   * for memory a second time.
   *
   * @param constants names of its parameters that no launch writes
   * @return empty if it waits already, and lets the next one begin
   */
  public static Optional<Kernel> waiting(Kernel kernel, Set<String> constants) {
    boolean waits = LaunchOrder.overlaps(kernel);
    if (waits && signals(kernel.body())) {
      return Optional.empty();
    }
    // The next one may begin as early as this one, whatever it was to wait for.
    Stmt body = signals(kernel.body()) ? silent(kernel.body()) : kernel.body();
    Stmt signal = Exprs.evaluate(HopperIntrinsics.SIGNAL_NEXT);
    if (waits) {
      body = Stmts.seq(signal, body);
    } else {
      boolean[] placed = {false};
      Stmt parted = parted(body, placed);
      body =
          placed[0]
              ? parted
              : Stmts.seq(signal, prefetched(kernel, constants), EarlyWeights.waiting(body));
    }
    return Optional.of(
        EarlyWeights.with(
            kernel, body, waits ? kernel.attrs() : kernel.attrs().with(LaunchOrder.CONSTANTS, "")));
  }

  /** What of short vectors a block's threads can ask for at once, a line each. */
  private static Stmt prefetched(Kernel kernel, Set<String> constants) {
    Optional<ThreadBinding> thread = kernel.binding(ThreadAxis.THREAD_X);
    List<Stmt> asked = new ArrayList<>();
    for (Buffer buffer : kernel.buffers()) {
      if (thread.isEmpty()
          || !constants.contains(buffer.name())
          || buffer.rank() != 1
          || !(buffer.shape().getFirst() instanceof Expr.IntImm elements)) {
        continue;
      }
      int line = LINE / buffer.dtype().bytes();
      Expr first = Exprs.mul(thread.get().var(), line);
      long lines = Math.ceilDiv(elements.value(), line);
      if (lines <= kernel.threadsPerBlock()) {
        asked.add(
            new Stmt.If(
                Exprs.lt(thread.get().var(), Exprs.i32(lines)),
                Exprs.evaluate(CacheHints.PREFETCH_L2, new Expr.AddressOf(buffer, List.of(first))),
                null));
      }
    }
    return Stmts.seq(asked);
  }

  private static Stmt silent(Stmt body) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt s) {
        return isSignal(s) ? Stmt.Seq.EMPTY : super.stmt(s);
      }
    }.stmt(body);
  }

  private static boolean isSignal(Stmt s) {
    return s instanceof Stmt.Evaluate(Expr.Call call) && call.op() == HopperIntrinsics.SIGNAL_NEXT;
  }

  private static boolean signals(Stmt body) {
    boolean[] found = {false};
    Walk.statements(body, s -> found[0] |= isSignal(s));
    return found[0];
  }

  /** With a wait at the beginning of each role, if none of the body's memory is touched before. */
  private static Stmt parted(Stmt body, boolean[] placed) {
    return new Rewriter() {
      @Override
      public Stmt stmt(Stmt inner) {
        if (!placed[0]
            && inner instanceof Stmt.If(Expr condition, Stmt then, Stmt otherwise)
            && otherwise != null
            && (EarlyWeights.holdsLoad(then) || EarlyWeights.holdsLoad(otherwise))
            && globalsBefore(body, inner) == 0) {
          placed[0] = true;
          Stmt signal = Exprs.evaluate(HopperIntrinsics.SIGNAL_NEXT);
          return new Stmt.If(
              condition,
              Stmts.seq(signal, EarlyWeights.waiting(then)),
              Stmts.seq(signal, EarlyWeights.waiting(otherwise)));
        }
        return super.stmt(inner);
      }
    }.stmt(body);
  }

  /** How often a body touches global memory before it comes to a statement. */
  private static int globalsBefore(Stmt body, Stmt end) {
    int[] count = {0};
    boolean[] there = {false};
    Walk.all(
        body,
        inner -> {
          there[0] |= inner == end;
          if (!there[0]
              && inner instanceof Stmt.Store store
              && EarlyWeights.isGlobal(store.buffer())) {
            count[0]++;
          }
        },
        e -> {
          if (there[0]) {
            return;
          }
          if (e instanceof Expr.AddressOf address && EarlyWeights.isGlobal(address.buffer())
              || e instanceof Expr.Load load && EarlyWeights.isGlobal(load.buffer())) {
            count[0]++;
          }
        });
    return count[0];
  }
}
