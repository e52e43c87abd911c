package dev.warpwright.networks.stages;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** What a stage that is a formula computes, element by element. */
public final class StageFormula {
  private StageFormula() {}

  /**
   * The element that a formula makes.
   *
   * @param func with a block for each stage
   * @param block of a formula of rows and columns
   * @param row of its result
   * @param column of the same
   */
  public static Expr at(PrimFunc func, String block, Expr row, Expr column) {
    Expr[] found = new Expr[1];
    Walk.statements(
        func.body(),
        s -> {
          if (s instanceof Stmt.Block made
              && made.name().equals(block)
              && made.body() instanceof Stmt.Store store) {
            Map<Var, Expr> places = new HashMap<>();
            List<IterVar> vars = made.iterVars();
            places.put(vars.get(0).var(), row);
            places.put(vars.get(1).var(), column);
            found[0] = Substitution.ofVars(places).expr(store.value());
          }
        });
    return Objects.requireNonNull(found[0], block);
  }
}
