package dev.warpwright.lower.pass;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Rewriter;
import org.jspecify.annotations.Nullable;

/**
 * Turns vectorized loops into statements on vectors: the loop variable becomes a ramp, what depends
 * on it a vector, and what does not stays scalar and is broadcast where it meets a vector.
 *
 * <p>Guarantees: no loop of kind {@link ForKind#VECTORIZED} is left, and every vector access is to
 * consecutive elements.
 *
 * <p>Stands after {@link LowerBlocks} and {@link ExpandMath} (which replaces functions by
 * operations that exist on vectors) and before {@link UnrollLoops}.
 */
public final class VectorizeLoops extends Rewriter {
  private VectorizeLoops() {}

  /**
   * Vectorizes the loops of a body.
   *
   * @param body of a kernel
   * @return the body without such loops
   * @throws IllegalArgumentException if a loop cannot be, with the reason
   */
  public static Stmt apply(Stmt body) {
    return new VectorizeLoops().stmt(body);
  }

  /**
   * {@return why a loop cannot be vectorized, or null if it can}
   *
   * @param loop of the kind that is vectorized
   */
  public static @Nullable String refusal(Stmt.For loop) {
    try {
      vectorize(loop);
      return null;
    } catch (Lanes.Refusal e) {
      return e.getMessage();
    }
  }

  @Override
  public Stmt stmt(Stmt s) {
    if (!(s instanceof Stmt.For f) || f.kind() != ForKind.VECTORIZED) {
      return super.stmt(s);
    }
    try {
      return vectorize(f);
    } catch (Lanes.Refusal e) {
      throw new IllegalArgumentException(
          "cannot vectorize the loop over " + f.var() + ": " + e.getMessage(), e);
    }
  }

  private static Stmt vectorize(Stmt.For f) {
    if (!(f.extent() instanceof Expr.IntImm extent) || extent.value() > 1024) {
      throw new Lanes.Refusal("its extent " + f.extent() + " is no constant up to 1024");
    }
    return new Lanes(f.var(), f.min(), (int) extent.value()).stmt(f.body());
  }
}
