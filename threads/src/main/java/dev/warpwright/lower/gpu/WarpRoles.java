package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.HopperIntrinsics;

/**
 * Which threads of a block copy and which multiply. With several consumer warpgroups the first
 * warpgroup of the block is the producer, and gives most of its registers to the others. A single
 * consumer gets the first four warps, and one more warp copies, or four where all their threads do:
 * there is nothing to win by moving registers.
 *
 * @param consumers warpgroups that multiply
 * @param minBlocks blocks of which an SM shall hold so many
 * @param accumulators registers of a consumer thread that hold sums
 * @param producer what the producer's threads do
 */
public record WarpRoles(int consumers, int minBlocks, int accumulators, Producer producer) {
  /** What a producer's threads do, and so how many registers they may be left. */
  public enum Producer {
    /** One thread starts TMA copies. */
    ONE_THREAD(40, 32, 24),

    /** All threads copy. */
    COPYING(96, 72, 56, 40),

    /** All threads copy, and some tiles pass through their registers. */
    TRANSPOSING(152, 128, 96, 72, 56, 40);

    private final int[] registers;

    Producer(int... registers) {
      this.registers = registers;
    }

    private boolean copies() {
      return this != ONE_THREAD;
    }
  }

  private static final int WARPGROUP = WarpgroupInstruction.THREADS;

  /** Above this there is nothing that could be kept in registers. */
  private static final int MAX_REGISTERS = 240;

  /** Registers that a consumer needs beside its sums. */
  private static final int OTHER_REGISTERS = 48;

  /** Consumer warpgroups that a program's attributes ask for. */
  public static int consumers(Attrs attrs) {
    long consumers = attrs.getLong("consumers", 1);
    if (consumers < 1 || consumers > 4) {
      throw new LoweringException(consumers + " consumer warpgroups; a block has 1 to 4");
    }
    return (int) consumers;
  }

  /** Registers of 32 bits in which a thread holds its part of a fragment. */
  public static int registers(Buffer fragment, FragmentLayout layout) {
    return Math.ceilDiv(layout.registers() * fragment.dtype().bytes(), 4);
  }

  /** The number among the producer's threads of a thread of the block. */
  public Expr inProducer(Var tid) {
    return single() ? Exprs.add(tid, Exprs.i32(-WARPGROUP)) : tid;
  }

  private boolean single() {
    return consumers == 1;
  }

  /** Threads of a block. */
  public int threads() {
    return single() && !producer.copies()
        ? WARPGROUP + GpuTarget.WARP_SIZE
        : WARPGROUP * (consumers + 1);
  }

  /** Number of the first thread that multiplies. */
  private int firstConsumer() {
    return single() ? 0 : WARPGROUP;
  }

  /** Registers that a launch with these bounds gives each thread. */
  private int entryRegisters() {
    return launchRegisters(threads() * minBlocks);
  }

  /** Registers of 32 bits that each of an SM's threads gets at launch. */
  public static int launchRegisters(int threads) {
    return Math.min(GpuTarget.REGISTERS_PER_SM / threads / 8 * 8, 256);
  }

  /**
   * Registers of a consumer thread, once the producer has given its own back: never fewer than a
   * launch gives it, which is also why the producer keeps no more than that. (ptxas refuses a
   * program that lowers to more registers than any of its threads has, C7406.) A single consumer
   * keeps what the launch gives it.
   */
  public int consumerRegisters() {
    int entry = entryRegisters();
    if (single()) {
      return entry;
    }
    int pool = entry * (consumers + 1);
    int each = entry;
    for (int choice : producer.registers) {
      int kept = Math.min(choice, entry);
      each = Math.min(MAX_REGISTERS, (pool - kept) / consumers / 8 * 8);
      if (each >= accumulators + OTHER_REGISTERS) {
        break;
      }
    }
    return each;
  }

  /** Registers of a thread that copies: what the consumers leave. */
  public int producerRegisters() {
    int rest = entryRegisters() * (consumers + 1) - consumers * consumerRegisters();
    return Math.min(entryRegisters(), rest / 8 * 8);
  }

  /** A thread's change to as many registers; nothing if it has as many. */
  private Stmt changeTo(int registers, Intrinsic change) {
    return registers == entryRegisters()
        ? Stmts.seq()
        : Exprs.evaluate(change, Exprs.i32(registers));
  }

  /** The consumer's code in terms of its thread among the consumers. */
  public interface ConsumerBody {
    Stmt code(Var thread);
  }

  /**
   * The branch of a block into its roles.
   *
   * @param produce code of the thread that copies, or of all that do
   * @param produced what all threads of the producer do behind it
   */
  public Stmt branch(Var tid, Stmt produce, Stmt produced, ConsumerBody consumer) {
    if (single()) {
      Stmt issue =
          Stmts.seq(
              producer.copies()
                  ? produce
                  : new Stmt.If(Exprs.eq(tid, Exprs.i32(WARPGROUP)), produce, null),
              produced);
      return new Stmt.If(Exprs.lt(tid, Exprs.i32(WARPGROUP)), consumer.code(tid), issue);
    }
    Var thread = Var.index("consumer");
    Stmt issue =
        Stmts.seq(
            changeTo(producerRegisters(), HopperIntrinsics.SETMAXNREG_DEC),
            producer.copies() ? produce : new Stmt.If(Exprs.eq(tid, Exprs.i32(0)), produce, null),
            produced);
    Stmt multiply =
        Stmts.seq(
            changeTo(consumerRegisters(), HopperIntrinsics.SETMAXNREG_INC),
            new Stmt.Let(
                thread, Exprs.add(tid, Exprs.i32(-firstConsumer())), consumer.code(thread)));
    return new Stmt.If(Exprs.lt(tid, Exprs.i32(WARPGROUP)), issue, multiply);
  }

  /** The warpgroup among the consumers. */
  public Expr group(Expr thread) {
    return single() ? Exprs.i32(0) : Exprs.div(thread, WARPGROUP);
  }

  /** The thread in its warpgroup. */
  public Expr inGroup(Expr thread) {
    return single() ? thread : Exprs.mod(thread, WARPGROUP);
  }
}
