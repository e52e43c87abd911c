package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.HopperIntrinsics;

/**
 * Which threads of a block copy and which multiply. With several consumer warpgroups the first
 * warpgroup of the block is the producer, and gives most of its registers to the others. A single
 * consumer gets the first four warps, and one more warp copies: there is nothing to win by moving
 * registers.
 *
 * @param consumers warpgroups that multiply
 * @param minBlocks blocks of which a multiprocessor shall hold so many
 */
record Roles(int consumers, int minBlocks) {
  private static final int WARPGROUP = WarpgroupInstruction.THREADS;
  private static final int PRODUCER_REGISTERS = 32;
  private static final int MAX_PRODUCER_REGISTERS = 40;

  static Roles of(Attrs attrs) {
    long consumers = attrs.getLong("consumers", 1);
    long minBlocks = attrs.getLong("minBlocks", 1);
    if (consumers < 1 || consumers > 4 || minBlocks < 1) {
      throw new LoweringException(
          consumers + " consumer warpgroups in " + minBlocks + " blocks: take 1 to 4");
    }
    return new Roles((int) consumers, (int) minBlocks);
  }

  private boolean single() {
    return consumers == 1;
  }

  /** Threads of a block. */
  int threads() {
    return single() ? WARPGROUP + GpuTarget.WARP_SIZE : WARPGROUP * (consumers + 1);
  }

  /** Number of the first thread that multiplies. */
  private int firstConsumer() {
    return single() ? 0 : WARPGROUP;
  }

  /** Registers that a launch with these bounds gives each thread. */
  private int entryRegisters() {
    int each = GpuTarget.REGISTERS_PER_SM / (threads() * minBlocks) / 8 * 8;
    return Math.min(each, 256);
  }

  /** Registers of a consumer thread, once the producer has given its own back. */
  int consumerRegisters() {
    if (single()) {
      return Math.min(entryRegisters(), GpuTarget.REGISTERS_PER_THREAD);
    }
    int pool = entryRegisters() * (consumers + 1);
    return Math.min(256, (pool - PRODUCER_REGISTERS) / consumers / 8 * 8);
  }

  private int producerRegisters() {
    int rest = entryRegisters() * (consumers + 1) - consumers * consumerRegisters();
    return Math.min(MAX_PRODUCER_REGISTERS, rest / 8 * 8);
  }

  /** The consumer's code in terms of its thread among the consumers. */
  interface ConsumerBody {
    Stmt code(Var thread);
  }

  /**
   * The branch of a block into its roles.
   *
   * @param producer code of the one thread that copies
   */
  Stmt branch(Var tid, Stmt producer, ConsumerBody consumer) {
    if (single()) {
      Stmt issue = new Stmt.If(Exprs.eq(tid, Exprs.i32(WARPGROUP)), producer, null);
      return new Stmt.If(Exprs.lt(tid, Exprs.i32(WARPGROUP)), consumer.code(tid), issue);
    }
    Var thread = Var.index("consumer");
    Stmt issue =
        Stmts.seq(
            Exprs.evaluate(HopperIntrinsics.SETMAXNREG_DEC, Exprs.i32(producerRegisters())),
            new Stmt.If(Exprs.eq(tid, Exprs.i32(0)), producer, null));
    Stmt multiply =
        Stmts.seq(
            Exprs.evaluate(HopperIntrinsics.SETMAXNREG_INC, Exprs.i32(consumerRegisters())),
            new Stmt.Let(
                thread, Exprs.add(tid, Exprs.i32(-firstConsumer())), consumer.code(thread)));
    return new Stmt.If(Exprs.lt(tid, Exprs.i32(WARPGROUP)), issue, multiply);
  }

  /** The warpgroup among the consumers. */
  Expr group(Expr thread) {
    return single() ? Exprs.i32(0) : Exprs.div(thread, WARPGROUP);
  }

  /** The thread in its warpgroup. */
  Expr inGroup(Expr thread) {
    return single() ? thread : Exprs.mod(thread, WARPGROUP);
  }
}
