package dev.warpwright.compiler.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Walk;
import java.util.LinkedHashSet;
import java.util.Set;

/** The buffers that a block reads. */
final class StageReads {
  private StageReads() {}

  static Set<Buffer> of(PrimFunc func, String block) {
    Set<Buffer> reads = new LinkedHashSet<>();
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.Block b && b.name().equals(block)) {
            Walk.expressions(
                b.body(),
                e -> {
                  if (e instanceof Expr.Load load) {
                    reads.add(load.buffer());
                  }
                });
          }
        });
    return reads;
  }
}
