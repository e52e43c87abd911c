package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.List;

/**
 * The two barriers of each stage of a pipeline: {@code full} ends a phase when all bytes of the
 * stage have arrived, {@code empty} when every warpgroup that reads the stage has read it. Where
 * blocks of a cluster copy into each other, a stage is empty only when the consumers of all of them
 * are done with it.
 *
 * <p>Consumers start to wait for parity 0, the producer for parity 1, which a fresh barrier answers
 * at once; both flip each time the ring wraps.
 *
 * @param consumers warpgroups of a block
 * @param producers threads that fill a stage
 */
public record RingBarriers(Buffer full, Buffer empty, long stages, int consumers, int producers) {
  public static RingBarriers of(long stages, int consumers, int producers) {
    return new RingBarriers(
        new Buffer("full", DType.MBARRIER, List.of(Exprs.i32(stages)), Scope.SHARED, null, 16),
        new Buffer("empty", DType.MBARRIER, List.of(Exprs.i32(stages)), Scope.SHARED, null, 16),
        stages,
        consumers,
        producers);
  }

  /** The same, where a stage is empty when all blocks of a cluster say so. */
  public RingBarriers ofCluster() {
    return new RingBarriers(
        full, empty.withScope(Scope.SHARED_CLUSTER), stages, consumers, producers);
  }

  /** The stage of a step, counted over all work items. */
  public Expr stage(Expr step) {
    return Exprs.mod(step, stages);
  }

  /** The stage of the step before. */
  public Expr stageBefore(Expr step) {
    return stage(Exprs.add(step, stages - 1));
  }

  public Expr fullAt(Expr stage) {
    return address(full, stage);
  }

  /** The consumer waits until a step's stage is full, the phase of which has this parity. */
  public Stmt waitFull(Expr parity, Expr stage) {
    return Exprs.evaluate(HopperIntrinsics.MBARRIER_WAIT, address(full, stage), parity);
  }

  /** A thread of the producer waits until a step's stage is empty. */
  public Stmt waitEmpty(Expr parity, Expr stage) {
    return Exprs.evaluate(
        HopperIntrinsics.MBARRIER_WAIT, address(empty, stage), Exprs.bitXor(parity, Exprs.i32(1)));
  }

  /** A thread of the producer has done its part, and TMA copies will bring so many bytes. */
  public Stmt expect(Expr stage, long bytes) {
    return Exprs.evaluate(
        HopperIntrinsics.MBARRIER_ARRIVE_EXPECT_TX, address(full, stage), Exprs.i32(bytes));
  }

  /** A thread of the producer has done its part. */
  public Stmt filled(Expr stage) {
    return Exprs.evaluate(HopperIntrinsics.MBARRIER_ARRIVE, address(full, stage));
  }

  /** The parity of the phase in which a step's stage becomes full. */
  public Expr parity(Expr step) {
    return Exprs.mod(Exprs.div(step, stages), 2);
  }

  private static Expr address(Buffer barriers, Expr stage) {
    return new Expr.AddressOf(barriers, List.of(stage));
  }
}
