package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.type.Type;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One row of the table of intrinsics.
 *
 * @param text its name in the text form and, with dots replaced, of its CUDA wrapper
 * @param collective who executes one call together
 * @param operands its arguments, in order
 * @param result type of its value, or null
 * @param effect what it does to memory and registers, or how it synchronises
 * @param minimumArch least compute capability times ten, for example 80; architecture-specific
 *     forms name 90 and set {@code archSpecific}
 * @param archSpecific needs the {@code a} form of the target (wgmma, setmaxnreg)
 * @param cuda definition of the device function that wraps the PTX instruction, empty for products
 *     of warpgroups; only its name where CUDA has it built in. If it is a template over an {@code
 *     int}, the one operand is its argument and must be a constant
 * @param source where it is specified, for example a PTX ISA section
 */
public record TargetIntrinsic(
    String text,
    Collective collective,
    List<Operand> operands,
    @Nullable Type result,
    Effect effect,
    int minimumArch,
    boolean archSpecific,
    String cuda,
    String source)
    implements Intrinsic {

  /** What a call does. */
  public sealed interface Effect permits Computes, Synchronises, Drives {}

  /**
   * Computes values or moves data.
   *
   * @param meaning for all lanes of a call
   * @param work that counters count
   */
  public record Computes(Meaning meaning, Work work) implements Effect {
    /**
     * An effect of which its operands say all that counters count.
     *
     * @param meaning for all lanes of a call
     */
    public Computes(Meaning meaning) {
      this(meaning, new Work.Plain());
    }
  }

  /**
   * Orders memory or makes threads wait; executors implement each kind.
   *
   * @param kind of barrier or fence
   */
  public record Synchronises(SyncKind kind) implements Effect {}

  /**
   * Drives a unit of the chip that works beside the threads, or orders memory against one. Calls of
   * this kind are barriers to code motion.
   *
   * @param unit that is driven
   */
  public record Drives(Unit unit) implements Effect {}

  /**
   * The units that {@link Drives} names, with the operations listed in {@link HopperIntrinsics} and
   * {@link Intrinsics}.
   */
  public enum Unit {
    /** Barrier objects in shared memory. */
    MBARRIER,
    /** The bulk tensor copy engine. */
    BULK_COPY,
    /** Asynchronous products of a warpgroup. */
    WARPGROUP_MMA,
    /** Other blocks of the cluster. */
    CLUSTER,
    /** Barriers that some warps of a block share. */
    NAMED_BARRIER,
    /** The register file, which warpgroups divide among themselves. */
    REGISTER_FILE,
    /** Memory order between ordinary accesses and the asynchronous units. */
    PROXY,
    /** Counters in global memory, with acquire and release order at the scope of the GPU. */
    COUNTER,
    /** What tells a thread where and when it runs. */
    CLOCK,
    /** L2, which may be told what will be read. */
    CACHE,
    /** The launches before and behind this one, which may overlap with it. */
    LAUNCHES
  }

  /** The kinds of synchronisation. */
  public enum SyncKind {
    /** All threads of the block wait for each other; memory of the block is visible after it. */
    BLOCK_BARRIER,
    /** The active lanes of the warp wait for each other. */
    WARP_BARRIER,
    /** Closes the thread's group of asynchronous copies. */
    ASYNC_COMMIT,
    /** Waits until at most as many of the thread's groups as the operand says are pending. */
    ASYNC_WAIT
  }

  /** Copies the list. */
  public TargetIntrinsic {
    operands = List.copyOf(operands);
  }

  /**
   * {@return the text of the CUDA function} That of a product is made when it is asked for: there
   * are hundreds of them.
   */
  @Override
  public String cuda() {
    WgmmaGemm product = cuda.isEmpty() ? HopperIntrinsics.wgmma(this) : null;
    return product == null ? cuda : HopperWrappers.wgmma(text, product);
  }

  /** {@return name of the CUDA function that is called} */
  public String function() {
    return isBuiltIn() ? cuda : text.replace('.', '_');
  }

  /** {@return name of the function of {@link Intrinsics#guarded}, taken for all intrinsics} */
  public String guardedFunction() {
    return function() + "_if";
  }

  /** {@return whether CUDA has {@link #function()} built in, so that there is nothing to define} */
  public boolean isBuiltIn() {
    return !cuda.isEmpty() && cuda.indexOf('(') < 0;
  }

  /** {@return whether the operand is a template argument of the CUDA function, hence a constant} */
  public boolean takesConstant() {
    return cuda.startsWith("template <int");
  }

  @Override
  public @Nullable String problem(Expr.Call call) {
    return OperandRules.problem(this, call);
  }

  @Override
  public Access laterAccess(int operand) {
    boolean load = HopperIntrinsics.isTmaLoad(this) || this == HopperIntrinsics.BULK_LOAD_LINEAR;
    if (load && operand == 1) {
      return Access.READ;
    }
    return HopperIntrinsics.isTmaStore(this) && operand == 0 ? Access.WRITE : Access.NONE;
  }

  @Override
  public boolean awaitsPrevious() {
    return this == HopperIntrinsics.AWAIT_PREVIOUS;
  }

  @Override
  public boolean isBarrier() {
    return effect instanceof Synchronises || effect instanceof Drives;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  @Override
  public String toString() {
    return text;
  }
}
