package dev.warpwright.ir.visit;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Var;
import java.util.Map;

/** Replaces variables by expressions and buffers by buffers. */
public final class Substitution extends Rewriter {
  private final Map<Var, ? extends Expr> vars;
  private final Map<Buffer, Buffer> buffers;

  /**
   * Replaces variables and buffers, all at once.
   *
   * @param vars what stands for each variable
   * @param buffers what stands for each buffer
   */
  public Substitution(Map<Var, ? extends Expr> vars, Map<Buffer, Buffer> buffers) {
    this.vars = vars;
    this.buffers = buffers;
  }

  /**
   * {@return what replaces variables}
   *
   * @param vars what stands for each variable
   */
  public static Substitution ofVars(Map<Var, ? extends Expr> vars) {
    return new Substitution(vars, Map.of());
  }

  /**
   * {@return what replaces buffers}
   *
   * @param buffers what stands for each buffer
   */
  public static Substitution ofBuffers(Map<Buffer, Buffer> buffers) {
    return new Substitution(Map.of(), buffers);
  }

  @Override
  protected Buffer buffer(Buffer buffer) {
    return buffers.getOrDefault(buffer, buffer);
  }

  @Override
  public Expr expr(Expr e) {
    if (e instanceof Var v) {
      Expr value = vars.get(v);
      return value == null ? v : value;
    }
    return super.expr(e);
  }
}
