package dev.warpwright.ir.arith;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Variables made constants, in the shapes of buffers too: those become other buffers. */
public record Specialization(Substitution substitution, Map<Buffer, Buffer> buffers) {
  /** Of the given buffers, and of those that a statement allocates. */
  public static Specialization of(Map<Var, Expr> constants, List<Buffer> params, Stmt body) {
    Substitution shapes = Substitution.ofVars(constants);
    Map<Buffer, Buffer> buffers = new HashMap<>();
    params.forEach(buffer -> replace(buffer, shapes, buffers));
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Alloc(Buffer buffer, Stmt inner)) {
            replace(buffer, shapes, buffers);
          }
        });
    return new Specialization(new Substitution(constants, buffers), buffers);
  }

  private static void replace(Buffer buffer, Substitution shapes, Map<Buffer, Buffer> buffers) {
    List<Expr> shape =
        buffer.shape().stream().map(e -> new Simplifier(Bounds.NONE).expr(shapes.expr(e))).toList();
    if (!shape.equals(buffer.shape())) {
      buffers.put(buffer, buffer.withShape(shape));
    }
  }

  /** The buffer instead. */
  public Buffer of(Buffer buffer) {
    return buffers.getOrDefault(buffer, buffer);
  }
}
