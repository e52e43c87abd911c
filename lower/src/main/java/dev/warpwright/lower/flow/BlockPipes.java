package dev.warpwright.lower.flow;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.StageOfRing;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.grid.ItemBarriers;
import dev.warpwright.lower.grid.TicketLoops;
import dev.warpwright.lower.grid.TileWaits;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link LowerPipes} for blocks without roles: all threads fill a ring, {@code lead}
 * stages ahead, and read it.
 *
 * <pre>{@code
 * pipe ring[3] shared (As) lead 2        alloc As[3, …]
 * for k in n {                           unroll p in 2 { if p < n { tile.copy As[p] <- A[… p …] }; cp.async.commit() }
 *   produce ring {                       for step in n {
 *     tile.copy As <- A[… k …]             cp.async.wait(1); sync_threads()
 *   }                                →     if step + 2 < n { let filled = (step + 2) % 3; tile.copy As[filled] <- A[… step + 2 …] }
 *   consume ring {                         cp.async.commit()
 *     tile.mma acc += As * …               tile.mma acc += As[step % 3] * …
 *   }                                    }
 * }                                      cp.async.wait(0)
 * }</pre>
 *
 * <p>One barrier a step suffices: behind it the step's stage is complete, and nobody reads the one
 * before, which is filled next. A barrier more stands between loops that use the same ring, and
 * between items; those of items that are drawn {@link ItemBarriers} places.
 */
final class BlockPipes extends Rewriter {
  private final Map<Buffer, Buffer> rings = new IdentityHashMap<>();

  /** Pipes with a loop so far. */
  private final Set<Pipe> used = new HashSet<>();

  private Bounds bounds = Bounds.NONE;

  /** Whether a block may come by again. */
  private boolean repeats;

  private BlockPipes() {}

  /**
   * Lowers.
   *
   * @throws LoweringException if pipes are not filled and read loop by loop
   */
  static PrimFunc apply(PrimFunc func) {
    if (func.attrs().getLong("cluster", 1) > 1) {
      throw new LoweringException("clusters need wgmma");
    }
    return func.withBody(new BlockPipes().stmt(ItemBarriers.apply(func.body())));
  }

  @Override
  public Stmt stmt(Stmt s) {
    return switch (s) {
      case Stmt.Flow.PipeScope(Pipe pipe, Stmt body) -> scope(pipe, body);
      case Stmt.Seq(List<Stmt> stmts) -> sequence(stmts);
      case Stmt.For f when feed(f) != null -> loop(f);
      case Stmt.For f when f.kind() == ForKind.THREAD_BOUND -> {
        bounds = bounds.withRange(f.var(), f.min(), f.extent());
        yield super.stmt(f);
      }
      case Stmt.For f -> {
        boolean before = repeats;
        // Items that are drawn end with a barrier already.
        repeats = !TicketLoops.isDrawn(f) && (repeats || bounds.of(f.extent()).max() > 1);
        Stmt loop = super.stmt(f);
        repeats = before;
        yield loop;
      }
      case Stmt.If(Expr condition, Stmt then, Stmt otherwise) -> {
        // One way does not meet what is read on the other.
        Set<Pipe> before = new HashSet<>(used);
        Stmt first = stmt(then);
        Set<Pipe> after = new HashSet<>(used);
        used.retainAll(before);
        Stmt second = otherwise == null ? null : stmt(otherwise);
        used.addAll(after);
        yield new Stmt.If(condition, first, second);
      }
      case Stmt.Flow.Produce produce -> throw alone(produce.pipe());
      case Stmt.Flow.Consume consume -> throw alone(consume.pipe());
      default -> super.stmt(s);
    };
  }

  private static LoweringException alone(Pipe pipe) {
    return new LoweringException(
        "pipe " + pipe.name() + " is not filled and read in one loop, and there are no roles");
  }

  private Stmt scope(Pipe pipe, Stmt body) {
    if (pipe.scope() != Scope.SHARED || pipe.stages() < 2) {
      throw new LoweringException(
          "pipe "
              + pipe.name()
              + " has "
              + pipe.stages()
              + " stages in "
              + pipe.scope().text()
              + " memory; without roles it takes 2 at least, in shared memory");
    }
    List<Buffer> all = new ArrayList<>();
    for (Buffer tile : pipe.buffers()) {
      Buffer ring = ring(tile, pipe.stages());
      rings.put(tile, ring);
      all.add(ring);
    }
    return Stmts.alloc(all, stmt(body));
  }

  /** All stages of a tile: swizzled as it is, or one behind the other. */
  private static Buffer ring(Buffer tile, long stages) {
    if (tile.layout() != null) {
      return SwizzledTile.ring(tile, stages);
    }
    List<Expr> shape = new ArrayList<>(tile.shape());
    shape.addFirst(Exprs.i32(stages));
    return Buffer.of(tile.name(), tile.dtype(), Scope.SHARED, shape);
  }

  private Stmt sequence(List<Stmt> stmts) {
    List<Stmt> result = new ArrayList<>();
    boolean feeds = false;
    for (Stmt s : stmts) {
      Feed feed = feed(s);
      if (feed != null && !used.add(feed.produce().pipe())) {
        result.add(Exprs.evaluate(Intrinsics.SYNC_THREADS));
      }
      feeds |= feed != null;
      result.add(stmt(s));
    }
    if (feeds && repeats) {
      // What is read must be gone before the copies arrive of whoever comes by next.
      result.add(Exprs.evaluate(Intrinsics.SYNC_THREADS));
    }
    return Stmts.seq(result);
  }

  /** What a loop does, step after step. */
  private record Feed(
      Stmt.For loop, List<Stmt> waits, Stmt.Flow.Produce produce, Stmt.Flow.Consume consume) {
    /** What is waited for before a step's copies, and the copies, into a stage. */
    Stmt fill(Map<Buffer, Buffer> rings, Expr step, Expr stage) {
      Stmt copies = new StageOfRing(rings, stage).stmt(produce.body());
      return at(step, Stmts.seq(Stmts.seq(waits), copies));
    }

    Stmt at(Expr step, Stmt s) {
      return Substitution.ofVars(Map.of(loop.var(), Exprs.add(loop.min(), step))).stmt(s);
    }

    /** Whether anything is under way behind its copies. */
    boolean isAsynchronous() {
      boolean[] found = {false};
      Walk.statements(
          produce.body(),
          s ->
              found[0] |=
                  s instanceof Stmt.TileCopy copy
                      && ChooseMovement.ASYNC.equals(copy.attrs().getString(ChooseMovement.BY)));
      return found[0];
    }
  }

  private static @Nullable Feed feed(Stmt s) {
    if (!(s instanceof Stmt.For f)
        || !(Stmts.seq(f.body()) instanceof Stmt.Seq(List<Stmt> stmts))
        || stmts.size() < 2) {
      return null;
    }
    List<Stmt> waits = stmts.subList(0, stmts.size() - 2);
    return stmts.get(stmts.size() - 2) instanceof Stmt.Flow.Produce produce
            && stmts.getLast() instanceof Stmt.Flow.Consume consume
            && produce.pipe() == consume.pipe()
            && !consume.peek()
            && waits.stream().allMatch(BlockPipes::isWait)
        ? new Feed(f, waits, produce, consume)
        : null;
  }

  /** A wait, or the barrier that all threads meet at behind one. */
  static boolean isWait(Stmt s) {
    return TileWaits.isWait(s) || s.equals(Exprs.evaluate(Intrinsics.SYNC_THREADS));
  }

  private Stmt loop(Stmt.For f) {
    Feed feed = Objects.requireNonNull(feed(f));
    long stages = feed.produce().pipe().stages();
    long ahead = stages - 1;
    Expr steps = f.extent();
    boolean async = feed.isAsynchronous();
    Stmt commit = async ? Exprs.evaluate(Intrinsics.CP_ASYNC_COMMIT) : Stmt.Seq.EMPTY;
    Stmt first =
        Stmts.loop(
            ForKind.UNROLLED,
            "p",
            ahead,
            p -> Stmts.seq(Stmts.when(Exprs.lt(p, steps), feed.fill(rings, p, p)), commit));
    Var step = Var.index("step");
    Var filled = Var.index("filled");
    Expr next = Exprs.add(step, ahead);
    Stmt fill = new Stmt.Let(filled, Exprs.mod(next, stages), feed.fill(rings, next, filled));
    Stmt read = new StageOfRing(rings, Exprs.mod(step, stages)).stmt(feed.consume().body());
    Stmt body =
        Stmts.seq(
            async ? waitFor(stages - 2) : Stmt.Seq.EMPTY,
            Exprs.evaluate(Intrinsics.SYNC_THREADS),
            Stmts.when(Exprs.lt(next, steps), fill),
            commit,
            feed.at(step, read));
    return Stmts.seq(
        first, Stmt.For.of(ForKind.SERIAL, step, steps, body), async ? waitFor(0) : Stmt.Seq.EMPTY);
  }

  private static Stmt waitFor(long groups) {
    return Exprs.evaluate(Intrinsics.CP_ASYNC_WAIT, Exprs.i32(groups));
  }
}
