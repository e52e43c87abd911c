package dev.warpwright.ir.visit;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import java.util.Set;
import java.util.TreeSet;

/**
 * Launches that may overlap with those before them. A kernel or tile program that waits for the
 * launches before it begins before they have ended, and its attribute {@code constants} names the
 * parameters that it may read before it has waited, separated by spaces.
 */
public final class LaunchOrder {
  /** The attribute that names what depends on no launch before. */
  public static final String CONSTANTS = "constants";

  /** The attribute that names what is read once, and need not stay in a cache. */
  public static final String STREAMED = "streamed";

  private LaunchOrder() {}

  /**
   * {@return whether a statement is the wait for the launches before}
   *
   * @param s any statement
   */
  public static boolean awaitsPrevious(Stmt s) {
    return s instanceof Stmt.Flow.AwaitPrevious
        || (s instanceof Stmt.Evaluate(Expr.Call call)
            && call.op() instanceof Intrinsic intrinsic
            && intrinsic.awaitsPrevious());
  }

  /**
   * {@return whether a statement holds such a wait}
   *
   * @param body any statement
   */
  public static boolean overlaps(Stmt body) {
    boolean[] found = {false};
    Walk.statements(body, s -> found[0] |= awaitsPrevious(s));
    return found[0];
  }

  /**
   * {@return whether a launch of the kernel begins before those before it have ended}
   *
   * @param kernel for a grid
   */
  public static boolean overlaps(Kernel kernel) {
    return overlaps(kernel.body());
  }

  /**
   * {@return the names of the parameters that depend on no launch before}
   *
   * @param attrs of a kernel
   */
  public static Set<String> constants(Attrs attrs) {
    return names(attrs, CONSTANTS);
  }

  /**
   * {@return the names that an attribute lists}
   *
   * @param attrs of a kernel
   * @param attribute {@link #CONSTANTS} or {@link #STREAMED}
   */
  public static Set<String> names(Attrs attrs, String attribute) {
    Set<String> names = new TreeSet<>();
    String text = attrs.getString(attribute);
    if (text != null && !text.isBlank()) {
      names.addAll(Set.of(text.trim().split(" +", -1)));
    }
    return names;
  }
}
