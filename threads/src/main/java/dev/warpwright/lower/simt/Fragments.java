package dev.warpwright.lower.simt;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A pipelined loop of a thread inside a pipelined loop of the block: the registers that an
 * iteration needs are loaded from shared memory while the one before it computes, across the
 * barrier, too.
 *
 * <pre>{@code
 * pipeline k in n { S <- A(k); pipeline i in m [stages = 2] { r <- S[i]; use r } }
 * →
 * S[0] <- A(0); barrier; r[0] <- S[0][0]
 * for k in n { unroll i in m-1 { r[(i+1) % 2] <- S[k % 2][i+1]; use r[i % 2] }
 *              S[(k+1) % 2] <- A(k+1); barrier
 *              r[0] <- S[(k+1) % 2][0]; use r[1] }
 * }</pre>
 */
final class Fragments {
  private final List<Stmt.For> threads;
  private final Stmt.For loop;
  private final List<Buffer> registers = new ArrayList<>();
  private final List<Stmt> loads = new ArrayList<>();
  private final List<Stmt> rest = new ArrayList<>();

  private Fragments(List<Stmt.For> threads, Stmt.For loop) {
    this.threads = threads;
    this.loop = loop;
  }

  /**
   * The fragments of what uses a tile, or null where it is not one nest around a pipelined loop.
   *
   * @throws LoweringException if that loop cannot be pipelined
   */
  static @Nullable Fragments of(List<Stmt> uses) {
    List<Stmt.For> threads = new ArrayList<>();
    Stmt inner = Stmts.seq(uses);
    while (inner instanceof Stmt.For loop && loop.kind() == ForKind.THREAD_BOUND) {
      threads.add(loop);
      inner = loop.body();
    }
    if (!(inner instanceof Stmt.For loop) || loop.kind() != ForKind.PIPELINED) {
      return null;
    }
    Fragments fragments = new Fragments(threads, loop);
    fragments.collect(loop.body(), new HashSet<>());
    boolean even = loop.extent() instanceof Expr.IntImm n && n.value() % 2 == 0;
    if (fragments.loads.isEmpty() || !even || loop.attrs().getLong("stages", 1) != 2) {
      throw new LoweringException(
          "pipelined loop "
              + loop.var()
              + " of a thread needs registers that it loads first, 2 stages and an even number of"
              + " iterations");
    }
    return fragments;
  }

  private void collect(Stmt s, Set<Buffer> own) {
    switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> stmts.forEach(inner -> collect(inner, own));
      case Stmt.Alloc(Buffer buffer, Stmt inner) -> {
        registers.add(buffer);
        own.add(buffer);
        collect(inner, own);
      }
      default -> (rest.isEmpty() && isLoad(s, own) ? loads : rest).add(s);
    }
  }

  /** Whether the statement fills registers of the loop from shared memory. */
  private static boolean isLoad(Stmt s, Set<Buffer> own) {
    boolean[] load = {true};
    Walk.all(
        s,
        inner -> load[0] &= !(inner instanceof Stmt.Store store) || own.contains(store.buffer()),
        e -> load[0] &= !(e instanceof Expr.Load l) || l.buffer().scope() == Scope.SHARED);
    return load[0];
  }

  PipelineLoops.Uses uses(Map<Buffer, Buffer> slots, Stmt.For steps, int stages) {
    Map<Buffer, Buffer> pairs = new LinkedHashMap<>();
    registers.forEach(buffer -> pairs.put(buffer, Slots.of(buffer, 2)));
    Expr slot = Slots.number(slots, steps.var());
    Expr nextSlot = Slots.number(slots, Exprs.add(steps.var(), 1));
    Expr count = loop.extent();
    Expr last = Exprs.sub(count, Exprs.i32(1));
    Var v = loop.var();

    Stmt ahead = Slots.rewrite(load(slots, slot, Exprs.add(v, 1)), pairs, half(Exprs.add(v, 1)));
    Stmt now = Slots.rewrite(Stmts.seq(rest), pairs, half(v));
    Stmt.For others =
        new Stmt.For(
            v, loop.min(), last, ForKind.UNROLLED, null, loop.attrs(), Stmts.seq(ahead, now));
    // After the last step, what was in that slot before is loaded once more, and not used.
    boolean there = steps.extent() instanceof Expr.IntImm n && n.value() >= stages;
    Stmt first = Slots.rewrite(load(slots, nextSlot, Exprs.i32(0)), pairs, Exprs.i32(0));
    Stmt more =
        there
            ? first
            : new Stmt.If(Exprs.lt(Exprs.add(steps.var(), 1), steps.extent()), first, null);
    Stmt end = Slots.rewrite(FreshNames.with(v, last, Stmts.seq(rest)), pairs, Exprs.i32(1));
    Stmt start = Slots.rewrite(load(slots, Exprs.i32(0), Exprs.i32(0)), pairs, Exprs.i32(0));
    return new PipelineLoops.Uses(
        nest(start),
        nest(others.withAttrs(dev.warpwright.ir.Attrs.NONE)),
        nest(Stmts.seq(more, end)),
        new ArrayList<>(pairs.values()));
  }

  private Stmt load(Map<Buffer, Buffer> slots, Expr slot, Expr iteration) {
    return Slots.rewrite(FreshNames.with(loop.var(), iteration, Stmts.seq(loads)), slots, slot);
  }

  private static Expr half(Expr iteration) {
    return Exprs.mod(iteration, 2);
  }

  /** A nest over the threads, with loops of its own. */
  private Stmt nest(Stmt body) {
    Stmt result = body;
    for (Stmt.For thread : threads.reversed()) {
      result = thread.withBody(result);
    }
    return FreshNames.of(result);
  }
}
