package dev.warpwright.lower.simt;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.visit.FreshNames;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Lets the copies to shared memory of later iterations start while an iteration computes, into
 * other slots of the buffers:
 *
 * <pre>{@code
 * pipeline k in n [stages = 2] { S <- A(k); use S }
 * →
 * S[0] <- A(0); barrier
 * for k in n { if k+1 < n { registers <- A(k+1) }
 *              use S[k % 2]
 *              if k+1 < n { S[(k+1) % 2] <- registers }
 *              barrier }
 * }</pre>
 *
 * <p>With the attribute {@code async}, copies are asynchronous, need no registers, and may be
 * several iterations ahead:
 *
 * <pre>{@code
 * for s in stages-1 { S[s] <- A(s); commit }
 * for k in n { wait(stages-2); barrier
 *              if k+stages-1 < n { S[(k+stages-1) % stages] <- A(k+stages-1) }; commit
 *              use S[k % stages] }
 * }</pre>
 *
 * <p>Either way one barrier an iteration is enough. Where all that uses the buffers is one nest
 * around another pipelined loop, its registers are filled ahead, too: see {@link Fragments}.
 *
 * <p>The attribute {@code zeros} says that iterations whose copies are nothing but zeros may be
 * left out, see {@link ZeroSteps}. The attribute {@code unroll} stays with the loop: unrolled as
 * often as there are stages, each slot has its own code.
 *
 * <p>Guarantees: no pipelined loop is left.
 */
final class PipelineLoops extends Rewriter {
  /** Attribute of a loop: how many iterations the printed text asks to be made one. */
  private static final String UNROLL = "unroll";

  private PipelineLoops() {}

  /**
   * Pipelines.
   *
   * @throws LoweringException if a pipelined loop has nothing to copy, or more than two stages
   *     without {@code async}
   */
  static Stmt apply(Stmt body) {
    return new PipelineLoops().stmt(body);
  }

  @Override
  public Stmt stmt(Stmt s) {
    return s instanceof Stmt.For loop && loop.kind() == ForKind.PIPELINED
        ? pipeline(loop)
        : super.stmt(s);
  }

  /** The parts of a loop: its buffers, the nests that fill them, and what uses them. */
  private static final class Parts {
    final Set<Buffer> buffers = new LinkedHashSet<>();
    final List<Buffer> others = new ArrayList<>();
    final List<Stmt> copies = new ArrayList<>();

    /** The copies as they are after the first step. */
    final List<Stmt> later = new ArrayList<>();

    final List<Stmt> uses = new ArrayList<>();
  }

  private Stmt pipeline(Stmt.For whole) {
    int stages = (int) whole.attrs().getLong("stages", 1);
    boolean async = whole.attrs().has("async");
    if (stages == 1) {
      return serial(whole, stmt(whole.body()), Attrs.NONE);
    }
    Parts parts = new Parts();
    collect(whole.body(), parts, written(whole.body()));
    if (parts.copies.isEmpty()) {
      throw new LoweringException(
          "pipelined loop " + whole.var() + " copies nothing to shared memory that it allocates");
    }
    ZeroSteps zeros = whole.attrs().has("zeros") ? ZeroSteps.of(whole, parts.copies) : null;
    Stmt.For loop = zeros == null ? whole : zeros.loop();
    if (zeros != null) {
      parts.later.clear();
      parts.later.addAll(zeros.copies());
    }
    if (!async && stages != 2) {
      throw new LoweringException(
          "pipelined loop "
              + loop.var()
              + " has "
              + stages
              + " stages; copies through registers have 2, annotate the loop with async for more");
    }
    Map<Buffer, Buffer> slots = new LinkedHashMap<>();
    parts.buffers.forEach(buffer -> slots.put(buffer, Slots.of(buffer, stages)));
    Fragments fragments = Fragments.of(parts.uses);
    Uses uses =
        fragments == null
            ? Uses.whole(Stmts.seq(parts.uses.stream().map(this::stmt).toList()), slots, loop)
            : fragments.uses(slots, loop, stages);
    Stmt result = async ? async(loop, parts, slots, uses) : staged(loop, parts, slots, uses);
    List<Buffer> allocated = new ArrayList<>(slots.values());
    allocated.addAll(parts.others);
    allocated.addAll(uses.buffers());
    return Stmts.alloc(allocated, result);
  }

  /**
   * What a step does with its tile, up to its barrier and after it.
   *
   * @param before the first step, once its tile is there; may be empty
   * @param step what reads the tile of this step
   * @param last what is left to do after the barrier, when the next tile is there; may be empty
   * @param buffers to be allocated around the loop
   */
  record Uses(Stmt before, Stmt step, Stmt last, List<Buffer> buffers) {
    static Uses whole(Stmt uses, Map<Buffer, Buffer> slots, Stmt.For loop) {
      Stmt step = Slots.rewrite(uses, slots, Slots.number(slots, loop.var()));
      return new Uses(Stmt.Seq.EMPTY, step, Stmt.Seq.EMPTY, List.of());
    }

    boolean isWhole() {
      return last.equals(Stmt.Seq.EMPTY);
    }
  }

  private static Stmt staged(Stmt.For loop, Parts parts, Map<Buffer, Buffer> slots, Uses uses) {
    Expr next = Exprs.add(loop.var(), 1);
    Expr more = Exprs.lt(next, loop.extent());
    List<Stmt> first = new ArrayList<>();
    List<Stmt> loads = new ArrayList<>();
    List<Stmt> stores = new ArrayList<>();
    List<Buffer> registers = new ArrayList<>();
    for (Stmt copy : parts.copies) {
      first.add(at(loop, Slots.rewrite(copy, slots, Exprs.i32(0)), Exprs.i32(0)));
    }
    for (Stmt copy : parts.later) {
      StagedCopy staged = StagedCopy.of(copy);
      registers.addAll(staged.registers());
      Stmt load = at(loop, staged.load(), next);
      // A load with a condition takes this one along. In branches of their own compilers move such
      // loads to where their values are stored, and wait there.
      Stmt carrying = StagedCopy.loadsWhere(load, more);
      loads.add(carrying == null ? new Stmt.If(more, load, null) : carrying);
      Stmt store = Slots.rewrite(staged.store(), slots, Slots.number(slots, loop.var()));
      stores.add(at(loop, store, next));
    }
    Stmt barrier = Exprs.evaluate(Intrinsics.SYNC_THREADS);
    Stmt body =
        Stmts.seq(
            together(loads),
            uses.step(),
            new Stmt.If(more, Stmts.seq(stores), null),
            barrier,
            uses.last());
    return Stmts.seq(
        Nests.merge(first), barrier, uses.before(), Stmts.alloc(registers, placed(loop, body)));
  }

  /** Statements, those under the same condition in one. */
  private static Stmt together(List<Stmt> stmts) {
    List<Stmt> bodies = new ArrayList<>();
    Expr condition = null;
    for (Stmt s : stmts) {
      if (!(s instanceof Stmt.If(Expr c, Stmt then, Stmt otherwise))
          || otherwise != null
          || condition != null && !condition.equals(c)) {
        return Stmts.seq(stmts);
      }
      condition = c;
      bodies.add(then);
    }
    return condition == null ? Stmts.seq(stmts) : new Stmt.If(condition, Stmts.seq(bodies), null);
  }

  private static Stmt async(Stmt.For loop, Parts parts, Map<Buffer, Buffer> slots, Uses uses) {
    int stages = Slots.count(slots);
    List<Stmt> copies = parts.later.stream().map(AsyncCopies::apply).toList();
    List<Stmt> early = parts.copies.stream().map(AsyncCopies::apply).toList();
    Stmt commit = Exprs.evaluate(Intrinsics.CP_ASYNC_COMMIT);
    List<Stmt> first = new ArrayList<>();
    for (int stage = 0; stage < stages - 1; stage++) {
      Expr iteration = Exprs.i32(stage);
      if (!(Exprs.fold(BinaryOp.LT, iteration, loop.extent()) instanceof Expr.IntImm exists)
          || exists.value() != 0) {
        // Where the number of steps is known to the block only, what lies beyond is zeros.
        for (Stmt copy : early) {
          first.add(at(loop, Slots.rewrite(copy, slots, iteration), iteration));
        }
      }
      first.add(commit);
    }
    Expr later = Exprs.add(loop.var(), stages - 1);
    List<Stmt> fill = new ArrayList<>();
    for (Stmt copy : copies) {
      Stmt slot = Slots.rewrite(copy, slots, Slots.number(slots, loop.var()));
      fill.add(at(loop, slot, later));
    }
    Stmt arrived =
        Stmts.seq(
            Exprs.evaluate(Intrinsics.CP_ASYNC_WAIT, Exprs.i32(stages - 2)),
            Exprs.evaluate(Intrinsics.SYNC_THREADS));
    Stmt refill =
        Stmts.seq(new Stmt.If(Exprs.lt(later, loop.extent()), Nests.merge(fill), null), commit);
    return uses.isWhole()
        ? Stmts.seq(Nests.merge(first), placed(loop, Stmts.seq(arrived, refill, uses.step())))
        : Stmts.seq(
            Nests.merge(first),
            arrived,
            uses.before(),
            placed(loop, Stmts.seq(refill, uses.step(), arrived, uses.last())));
  }

  private static Stmt placed(Stmt.For loop, Stmt body) {
    return serial(loop, body, kept(loop).with(ThreadBarriers.PLACED, 1));
  }

  /** What stays of a loop's attributes in the kernel: how often it is to be unrolled. */
  static Attrs kept(Stmt.For loop) {
    return loop.attrs().has(UNROLL)
        ? Attrs.NONE.with(UNROLL, loop.attrs().getLong(UNROLL, 1))
        : Attrs.NONE;
  }

  /** A copy of a statement for another iteration. */
  private static Stmt at(Stmt.For loop, Stmt s, Expr iteration) {
    return FreshNames.with(loop.var(), iteration, s);
  }

  private static Stmt serial(Stmt.For loop, Stmt body, Attrs attrs) {
    return new Stmt.For(loop.var(), loop.min(), loop.extent(), ForKind.SERIAL, null, attrs, body);
  }

  private static Set<Buffer> written(Stmt body) {
    Set<Buffer> written = new HashSet<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Store store) {
            written.add(store.buffer());
          }
        });
    return written;
  }

  private static void collect(Stmt s, Parts parts, Set<Buffer> written) {
    switch (s) {
      case Stmt.Seq(List<Stmt> stmts) -> stmts.forEach(inner -> collect(inner, parts, written));
      case Stmt.Alloc(Buffer buffer, Stmt inner) -> {
        if (buffer.scope() == Scope.SHARED) {
          parts.buffers.add(buffer);
        } else {
          parts.others.add(buffer);
        }
        collect(inner, parts, written);
      }
      default -> {
        boolean copy = isCopy(s, parts, written);
        (copy ? parts.copies : parts.uses).add(s);
        if (copy) {
          parts.later.add(s);
        }
      }
    }
  }

  /** Whether a nest fills buffers of the loop from what the loop does not change. */
  private static boolean isCopy(Stmt s, Parts parts, Set<Buffer> written) {
    boolean[] copy = {true};
    boolean[] stores = {false};
    Walk.all(
        s,
        inner -> {
          if (inner instanceof Stmt.Store store) {
            stores[0] = true;
            copy[0] &= parts.buffers.contains(store.buffer());
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            copy[0] &= !written.contains(load.buffer());
          } else if (e instanceof Expr.AddressOf) {
            copy[0] = false;
          }
        });
    return copy[0] && stores[0];
  }
}
