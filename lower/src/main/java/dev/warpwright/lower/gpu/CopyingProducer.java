package dev.warpwright.lower.gpu;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The producer's side of a pipelined loop where rows of an operand are no multiples of 16 bytes, so
 * that no tensor map describes them: all its threads copy, by {@code cp.async} or, where rows are
 * aligned to less than 4 bytes, through registers. Products read shared memory through another
 * proxy than these copies write it; so each thread waits for its copies, fences, and arrives:
 *
 * <pre>{@code
 * for k in steps { wait(empty[k]); copies of step k; commit
 *                  if k >= ahead { wait(ahead); fence; arrive(full[k - ahead]) } }
 * wait(0); fence; arrive(full[...]) for the last steps
 * }</pre>
 *
 * <p>Copies stay under way for {@code ahead} steps more, at most {@code stages - 2}: consumers give
 * a stage back only when they have begun with the next.
 */
final class CopyingProducer {
  /** To cover the way from DRAM, more than a microsecond, takes some steps. */
  private static final long MOST_AHEAD = 5;

  private final PipelinedProgram program;
  private final WorkItems work;
  private final RingBarriers barriers;
  private final List<BulkLoad> loads;
  private final List<StageCopy> copies;
  private final Expr tid;
  private final Var thread = Var.index("thread");

  /**
   * A producer.
   *
   * @param loads of operands that bulk copies do move
   * @param copies of the others
   * @param tid number of the thread among the producer's
   */
  CopyingProducer(
      PipelinedProgram program,
      WorkItems work,
      RingBarriers barriers,
      List<BulkLoad> loads,
      List<StageCopy> copies,
      Expr tid) {
    this.program = program;
    this.work = work;
    this.barriers = barriers;
    this.loads = loads;
    this.copies = copies;
    this.tid = tid;
  }

  /** The code for all work items. */
  Stmt code() {
    List<Buffer> registers =
        copies.stream().map(StageCopy::registers).filter(Objects::nonNull).toList();
    return new Stmt.Let(thread, tid, Stmts.alloc(registers, work.each(this::produce)));
  }

  private boolean anyAsynchronous() {
    return copies.stream().anyMatch(StageCopy::isAsynchronous);
  }

  private Stmt produce(WorkItems.Item item) {
    long ahead = anyAsynchronous() ? Math.min(MOST_AHEAD, barriers.stages() - 2) : 0;
    Var k = Var.index("k");
    Var loop = program.loop().var();
    Stmt body =
        barriers.numbered(
            item.before(),
            k,
            (it, stage) -> {
              List<Stmt> stmts = new ArrayList<>();
              stmts.add(barriers.waitEmpty(barriers.parity(it), stage));
              for (StageCopy copy : copies) {
                stmts.add(copy.move(item, thread, loop, Exprs.add(item.first(), k), stage));
              }
              if (anyAsynchronous()) {
                stmts.add(Exprs.evaluate(Intrinsics.CP_ASYNC_COMMIT));
              }
              Expr done = Exprs.sub(k, Exprs.i32(ahead));
              stmts.add(
                  Stmts.when(
                      Exprs.fold(BinaryOp.GE, k, Exprs.i32(ahead)),
                      Stmts.seq(arrived(ahead), filled(item, done))));
              return Stmts.seq(stmts);
            });
    Stmt loopOverSteps = Stmt.For.of(ForKind.SERIAL, k, item.steps(), body);
    if (ahead == 0) {
      return loopOverSteps;
    }
    Stmt rest =
        Stmts.loop(
            ForKind.UNROLLED,
            "r",
            ahead,
            r -> {
              Expr step = Exprs.add(Exprs.sub(item.steps(), Exprs.i32(ahead)), r);
              return Stmts.when(Exprs.fold(BinaryOp.GE, step, Exprs.i32(0)), filled(item, step));
            });
    return Stmts.seq(loopOverSteps, arrived(0), rest);
  }

  /** All but so many of this thread's groups of copies are done, and products may see them. */
  private Stmt arrived(long pending) {
    Stmt fence = Exprs.evaluate(HopperIntrinsics.FENCE_PROXY_ASYNC);
    return anyAsynchronous()
        ? Stmts.seq(Exprs.evaluate(Intrinsics.CP_ASYNC_WAIT, Exprs.i32(pending)), fence)
        : fence;
  }

  /** Tells the consumers of a step; one thread starts the bulk copies that the step has, too. */
  private Stmt filled(WorkItems.Item item, Expr step) {
    Expr stage = barriers.stage(Exprs.add(item.before(), step));
    if (loads.isEmpty()) {
      return barriers.filled(stage);
    }
    long bytes = loads.stream().mapToLong(load -> load.ring().bytes()).sum();
    List<Stmt> first = new ArrayList<>(List.of(barriers.expect(stage, bytes)));
    for (BulkLoad load : loads) {
      first.add(
          load.issue(
              work,
              item,
              program.loop().var(),
              Exprs.add(item.first(), step),
              stage,
              barriers.fullAt(stage)));
    }
    return new Stmt.If(Exprs.eq(thread, Exprs.i32(0)), Stmts.seq(first), barriers.filled(stage));
  }
}
