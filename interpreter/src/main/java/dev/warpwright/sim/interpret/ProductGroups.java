package dev.warpwright.sim.interpret;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Products of warpgroups in programs that say by waits when they are over: those that follow each
 * other without anything between are a group, as long as none takes what another makes.
 */
final class ProductGroups {
  private ProductGroups() {}

  /** By product, whether it ends its group; empty if the program has no such waits. */
  static Map<Stmt, Boolean> of(Stmt body) {
    boolean[] waits = {false};
    Map<Stmt, Boolean> groups = new IdentityHashMap<>();
    Walk.statements(
        body,
        s -> {
          waits[0] |=
              s instanceof Stmt.Evaluate(Expr.Call call)
                  && call.op() == HopperIntrinsics.WGMMA_WAIT;
          if (s instanceof Stmt.TileMma mma && isForWarpgroups(mma)) {
            groups.putIfAbsent(mma, true);
          }
          if (s instanceof Stmt.Seq(List<Stmt> stmts)) {
            for (int i = 0; i + 1 < stmts.size(); i++) {
              if (stmts.get(i) instanceof Stmt.TileMma first
                  && isForWarpgroups(first)
                  && stmts.get(i + 1) instanceof Stmt.TileMma second
                  && !meet(first, second)) {
                groups.put(first, false);
              }
            }
          }
        });
    return waits[0] ? groups : Map.of();
  }

  private static boolean isForWarpgroups(Stmt.TileMma mma) {
    String instruction = mma.attrs().getString("instr");
    return instruction != null && instruction.startsWith("wgmma.");
  }

  private static boolean meet(Stmt.TileMma first, Stmt.TileMma second) {
    return first.c().buffer() == second.a().buffer() || first.a().buffer() == second.c().buffer();
  }
}
