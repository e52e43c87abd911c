package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Type;
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
 * @param cuda definition of the device function that wraps the PTX instruction; only its name where
 *     CUDA has it built in. If it is a template over an {@code int}, the one operand is its
 *     argument and must be a constant
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
  public sealed interface Effect permits Computes, Synchronises {}

  /** Computes values or moves data. */
  public record Computes(Meaning meaning) implements Effect {}

  /** Orders memory or makes threads wait; executors implement each kind. */
  public record Synchronises(SyncKind kind) implements Effect {}

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

  public TargetIntrinsic {
    operands = List.copyOf(operands);
  }

  /** Name of the CUDA function that is called. */
  public String function() {
    return isBuiltIn() ? cuda : text.replace('.', '_');
  }

  /** Whether CUDA has {@link #function()} built in, so that there is nothing to define. */
  public boolean isBuiltIn() {
    return cuda.indexOf('(') < 0;
  }

  /** Whether the operand is a template argument of the CUDA function, hence a constant. */
  public boolean takesConstant() {
    return cuda.startsWith("template <int");
  }

  @Override
  public boolean isBarrier() {
    return effect instanceof Synchronises;
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
