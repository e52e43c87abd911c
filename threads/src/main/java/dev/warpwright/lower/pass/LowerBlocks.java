package dev.warpwright.lower.pass;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Substitution;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Replaces blocks by what one instance of them does.
 *
 * <p>Guarantees: no {@link Stmt.Block} is left; iteration variables are replaced by their bindings,
 * the predicate is an {@link Stmt.If}, and {@code init} runs where all reduce bindings are 0.
 *
 * <p>Stands first: blocks are what schedules reason about, and every later pass works on plain
 * loops.
 */
public final class LowerBlocks extends Rewriter {
  private LowerBlocks() {}

  /**
   * {@return a function whose blocks are ordinary statements}
   *
   * @param func with blocks
   */
  public static PrimFunc apply(PrimFunc func) {
    return func.withBody(apply(func.body()));
  }

  /**
   * {@return a statement whose blocks are ordinary statements}
   *
   * @param body with blocks
   */
  public static Stmt apply(Stmt body) {
    return new LowerBlocks().stmt(body);
  }

  @Override
  public Stmt stmt(Stmt s) {
    return s instanceof Stmt.Block block ? lower(block) : super.stmt(s);
  }

  private Stmt lower(Stmt.Block block) {
    Map<Var, Expr> bindings = new HashMap<>();
    Expr first = Exprs.bool(true);
    for (IterVar iv : block.iterVars()) {
      Expr binding = Exprs.cast(iv.var().type().dtype(), iv.binding());
      bindings.put(iv.var(), binding);
      if (iv.isReduce()) {
        first = Exprs.and(first, Exprs.eq(binding, Exprs.constant(binding.type(), 0)));
      }
    }
    Substitution bind = Substitution.ofVars(bindings);
    List<Stmt> stmts = new ArrayList<>();
    if (block.init() != null) {
      stmts.add(Stmts.when(first, bind.stmt(block.init())));
    }
    stmts.add(bind.stmt(block.body()));
    // Nested blocks are lowered after substitution, their bindings may use our variables.
    Stmt body = Stmts.seq(stmts.stream().map(this::stmt).toList());
    return block.predicate() == null ? body : Stmts.when(block.predicate(), body);
  }
}
