package dev.warpwright.lower.text;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Statements in text that are put beside those of a lowered kernel: its blocks, threads and
 * parameters are meant where they have the same axis or name.
 *
 * @param body in terms of the kernel
 * @param params the kernel's, then those that only the text has
 */
public record BoundText(Stmt body, List<Param> params) {
  /**
   * Reads.
   *
   * @param text of a kernel whose body is meant
   */
  public static BoundText of(Kernel kernel, String text) {
    Kernel parsed = new IrParser(Intrinsics::find).kernel("text", text);
    Map<Var, Expr> vars = new HashMap<>();
    for (ThreadBinding binding : parsed.bindings()) {
      kernel.bindings().stream()
          .filter(known -> known.axis() == binding.axis())
          .forEach(known -> vars.put(binding.var(), known.var()));
    }
    List<Param> params = new ArrayList<>(kernel.params());
    Map<Buffer, Buffer> same = new HashMap<>();
    for (Buffer buffer : parsed.buffers()) {
      kernel.buffers().stream()
          .filter(known -> known.name().equals(buffer.name()))
          .findFirst()
          .ifPresentOrElse(known -> same.put(buffer, known), () -> params.add(buffer));
    }
    return new BoundText(new Substitution(vars, same).stmt(parsed.body()), List.copyOf(params));
  }
}
