package dev.warpwright.ir;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An instruction of a target that the IR carries by name: a barrier, a matrix multiply, an
 * asynchronous copy. The table of them, with the CUDA text and the meaning in Java of each, is in
 * the {@code target} layer; this is what the IR needs to know to verify, print and parse a call.
 *
 * <p>Equality is identity: a table holds one object per name.
 */
public non-sealed interface Intrinsic extends Op {
  /** Who executes one call together. */
  enum Collective {
    /** Each thread for itself. */
    THREAD,
    /** The 32 threads of a warp, converged. */
    WARP,
    /** The 128 threads of a warpgroup, converged. */
    WARPGROUP,
    /** All threads of the block (or those that a named barrier counts). */
    BLOCK
  }

  /** What an address operand does to the elements it points at. */
  enum Access {
    /** What is behind it is read. */
    READ,
    /** What is behind it is overwritten. */
    WRITE,
    /** What is behind it is read and written. */
    READ_WRITE,
    /** A plain value, or an address that is only computed with. */
    NONE
  }

  /**
   * One argument of the intrinsic.
   *
   * @param name as in its documentation
   * @param dtype element type of a value, or of the elements behind an address; null if any
   * @param scopes empty for a value; for an address, the scopes it may point into
   * @param access what happens behind an address
   * @param elements number of consecutive elements behind an address that each thread's operand
   *     covers
   */
  record Operand(
      String name, @Nullable DType dtype, Set<Scope> scopes, Access access, int elements) {
    /** {@return whether the argument must be an {@link Expr.AddressOf}} */
    public boolean isAddress() {
      return !scopes.isEmpty();
    }
  }

  /** {@return who executes a call together} */
  Collective collective();

  /** {@return what it takes, in order} */
  List<Operand> operands();

  /**
   * {@return type of the result, or null when it gives none and may only be evaluated for its
   * effect}
   */
  @Nullable Type result();

  /**
   * {@return what is wrong with the operands of a call, in one line, beyond their number and types;
   * null if nothing is} Only what is certain for the call as it stands counts.
   *
   * @param call of this intrinsic
   */
  default @Nullable String problem(Expr.Call call) {
    return null;
  }

  /**
   * {@return what a copy that the call starts does to the matrix that an operand points into,
   * behind the threads' back: {@link Operand#access} says what the threads do themselves}
   *
   * @param operand its number, from 0
   */
  default Access laterAccess(int operand) {
    return Access.NONE;
  }

  /**
   * {@return whether the thread waits until the launches before this one have ended, and sees what
   * they wrote; see {@link dev.warpwright.ir.visit.LaunchOrder}}
   */
  default boolean awaitsPrevious() {
    return false;
  }

  /**
   * {@return whether it orders memory or synchronises threads, so that nothing may be moved across
   * it}
   */
  boolean isBarrier();
}
