package dev.warpwright.sim;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.visit.Rewriter;
import java.util.Map;

/** Kernels with other constants, for example for a smaller grid. */
public final class ChangedConstants {
  private ChangedConstants() {}

  /**
   * {@return the kernel with each of these integers replaced wherever it stands, also in its
   * launch}
   *
   * @param kernel left as it is
   * @param constants new values by old ones
   */
  public static Kernel of(Kernel kernel, Map<Long, Long> constants) {
    Rewriter rewriter =
        new Rewriter() {
          @Override
          public Expr expr(Expr e) {
            return e instanceof Expr.IntImm imm && constants.containsKey(imm.value())
                ? new Expr.IntImm(imm.type(), constants.get(imm.value()))
                : super.expr(e);
          }
        };
    return new Kernel(
        kernel.name(),
        kernel.kind(),
        kernel.params(),
        kernel.bindings().stream()
            .map(b -> new ThreadBinding(b.axis(), b.var(), rewriter.expr(b.extent())))
            .toList(),
        rewriter.stmt(kernel.body()),
        kernel.attrs());
  }
}
