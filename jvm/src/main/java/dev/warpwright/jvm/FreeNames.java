package dev.warpwright.jvm;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The variables and buffers that a statement uses and does not bind, in the order of their first
 * use. Every name is bound once in a kernel, so binding anywhere inside is binding.
 */
record FreeNames(List<Var> vars, List<Buffer> buffers) {
  static FreeNames of(Stmt stmt) {
    Set<Var> vars = new LinkedHashSet<>();
    Set<Buffer> buffers = new LinkedHashSet<>();
    Set<Var> boundVars = new HashSet<>();
    Set<Buffer> boundBuffers = new HashSet<>();
    Walk.all(
        stmt,
        s -> {
          switch (s) {
            case Stmt.For f -> boundVars.add(f.var());
            case Stmt.Let l -> boundVars.add(l.var());
            case Stmt.Alloc a -> boundBuffers.add(a.buffer());
            case Stmt.Store st -> buffers.add(st.buffer());
            case Stmt.Seq q -> {}
            case Stmt.While w -> {}
            case Stmt.If i -> {}
            case Stmt.Evaluate e -> {}
            case Stmt.Comment c -> {}
            case Stmt.Block b -> {}
            case Stmt.TileCopy t -> {}
            case Stmt.TileFill t -> {}
            case Stmt.TileMma t -> {}
            case Stmt.TileMap t -> {}
            case Stmt.TileReduce t -> {}
            case Stmt.Flow t -> {}
          }
        },
        e -> {
          if (e instanceof Var v) {
            vars.add(v);
          } else if (e instanceof Expr.Load load) {
            buffers.add(load.buffer());
          }
        });
    vars.removeAll(boundVars);
    buffers.removeAll(boundBuffers);
    return new FreeNames(new ArrayList<>(vars), new ArrayList<>(buffers));
  }
}
