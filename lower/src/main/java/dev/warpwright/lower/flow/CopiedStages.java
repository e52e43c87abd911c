package dev.warpwright.lower.flow;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.RingBarriers;
import dev.warpwright.lower.gpu.RingCursor;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The part of {@link LowerPipes} for stages that all threads of a role fill: their copies are under
 * way for the pipe's {@code lag}. Products read shared memory through another proxy than these
 * copies write it; so each thread waits for its copies, fences, and arrives. TMA copies that a step
 * has, too, are started as soon as the stage is empty, by one thread, which arrives for them.
 *
 * <pre>{@code
 * for k in steps { wait(empty[k]); start TMA copies; copies of step k; commit
 *                  if k >= lag { wait(lag); fence; arrive(full[k - lag]) } }
 * wait(0); fence; arrive(full[...]) for the last steps
 * }</pre>
 */
final class CopiedStages {
  private CopiedStages() {}

  /** A loop that does nothing but fill. */
  static Stmt loop(
      Stmt.For f, Stmt.Flow.Produce produce, LoweredPipe lowered, StageNumbers counted) {
    if (!counted.known()) {
      throw new LoweringException(
          "nobody can number the stages of " + produce.pipe().name() + ", which threads fill");
    }
    RingBarriers barriers = lowered.barriers();
    Var k = f.var();
    Expr number = counted.at(produce);
    List<Stmt> own = new ArrayList<>();
    List<Stmt.TileCopy> bulk = new ArrayList<>();
    boolean async = false;
    for (Stmt s : StageNumbers.flat(produce.body())) {
      Stmt.TileCopy copy = (Stmt.TileCopy) s;
      boolean byThreads = ChooseMovement.isByThreads(copy.attrs());
      async |= ChooseMovement.ASYNC.equals(copy.attrs().getString(ChooseMovement.BY));
      if (byThreads) {
        own.add(HeldStages.withoutDelay(copy));
      } else {
        bulk.add(copy);
      }
    }
    boolean commits = async;
    long steps = f.extent() instanceof Expr.IntImm n ? n.value() : Long.MAX_VALUE;
    long lag = Math.min(steps, commits ? produce.pipe().options().lag() : 0);
    Stmt body =
        RingCursor.numbered(barriers)
            .step(
                number,
                (parity, stage, last) ->
                    Stmts.seq(
                        barriers.waitEmpty(parity, stage),
                        lowered.mixed() ? started(lowered, bulk, stage) : Stmt.Seq.EMPTY,
                        LowerPipes.inRing(lowered, stage).stmt(Stmts.seq(own)),
                        commits ? Exprs.evaluate(Intrinsics.CP_ASYNC_COMMIT) : Stmt.Seq.EMPTY,
                        lag == steps
                            ? Stmt.Seq.EMPTY
                            : Stmts.when(
                                Exprs.fold(BinaryOp.GE, k, Exprs.i32(lag)),
                                Stmts.seq(
                                    arrived(commits, lag),
                                    filled(barriers, k, number, Exprs.sub(k, Exprs.i32(lag)))))));
    Stmt loop = f.withBody(body);
    if (lag == 0) {
      return loop;
    }
    Stmt rest =
        Stmts.loop(
            ForKind.UNROLLED,
            "r",
            lag,
            r -> {
              Expr step = Exprs.add(Exprs.sub(f.extent(), Exprs.i32(lag)), r);
              return Stmts.when(
                  Exprs.fold(BinaryOp.GE, step, Exprs.i32(0)), filled(barriers, k, number, step));
            });
    return Stmts.seq(loop, arrived(commits, 0), rest);
  }

  /** All but so many of a thread's groups of copies are done, and products may see them. */
  private static Stmt arrived(boolean async, long pending) {
    Stmt fence = Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC);
    return async
        ? Stmts.seq(Exprs.evaluate(Intrinsics.CP_ASYNC_WAIT, Exprs.i32(pending)), fence)
        : fence;
  }

  /** Whether any of a statement's copies is not the threads'. */
  static boolean bulk(Stmt s) {
    boolean[] found = {false};
    Walk.statements(
        s,
        each ->
            found[0] |=
                each instanceof Stmt.TileCopy copy && !ChooseMovement.isByThreads(copy.attrs()));
    return found[0];
  }

  /** One thread starts the TMA copies of a step, or says that it has none. */
  private static Stmt started(LoweredPipe lowered, List<Stmt.TileCopy> bulk, Expr stage) {
    return LowerPipes.one(
        bulk.isEmpty() ? lowered.barriers().filled(stage) : TmaStages.fill(bulk, lowered, stage));
  }

  /** Each thread tells the consumers of a step. */
  private static Stmt filled(RingBarriers barriers, Var k, Expr number, Expr step) {
    Expr stage = barriers.stage(Substitution.ofVars(Map.of(k, step)).expr(number));
    return LowerPipes.each(barriers.producers(), barriers.filled(stage));
  }
}
