package dev.warpwright.families.launch;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Folding;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.CacheHints;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Has weights brought to L2 that a block's ring has no room for, while the launch before still
 * computes and memory waits: a row of the tile is contiguous along K, so one instruction asks for
 * all of what comes next in it.
 *
 * <pre>{@code
 * for k in steps { B[n, k * 64] -> ring, 128 rows of 64 columns }
 *
 * for row in 128 { prefetch.bulk.l2(&B[n + row, ahead * 64], bytes) }
 * }</pre>
 */
final class WeightsToL2 {
  /** Less of a row is not worth an instruction. */
  private static final long LEAST_BYTES = 512;

  /** What a bulk operation's address and size are multiples of. */
  private static final long GRANULE = 16;

  private WeightsToL2() {}

  /** A tile's rows that one instruction copies from step to step. */
  private record Rows(Buffer weights, Expr first, Expr column, long count) {}

  /**
   * How much of each row of a block's tile all blocks may ask for.
   *
   * @param loop the steps of a tile
   * @param all bytes of all blocks together
   * @return 0 if that is too little
   */
  static long bytesOfRow(Kernel kernel, Stmt.For loop, long all) {
    long rows = rows(loop.body(), loop.var()).stream().mapToLong(Rows::count).sum();
    for (ThreadAxis axis : List.of(ThreadAxis.BLOCK_X, ThreadAxis.BLOCK_Y, ThreadAxis.BLOCK_Z)) {
      if (!(kernel.extent(axis) instanceof Expr.IntImm blocks)) {
        return 0;
      }
      rows *= blocks.value();
    }
    long bytes = rows == 0 ? 0 : all / rows / GRANULE * GRANULE;
    return bytes < LEAST_BYTES ? 0 : bytes;
  }

  /**
   * The instructions.
   *
   * @param loads of a step, those of weights only
   * @param step the variable that counts steps
   * @param made steps whose weights are in the ring
   * @param steps of the tile
   * @param most bytes of each row
   */
  static Stmt of(Stmt loads, Var step, Expr made, Expr steps, long most) {
    List<Stmt> stmts = new ArrayList<>();
    for (Rows rows : most == 0 ? List.<Rows>of() : rows(loads, step)) {
      Buffer weights = rows.weights();
      Expr from = with(Map.of(step, made), rows.column());
      Expr to = Exprs.min(with(Map.of(step, steps), rows.column()), Exprs.i32(weights.extent(1)));
      Expr bytes =
          Exprs.min(Exprs.mul(Exprs.sub(to, from), weights.dtype().bytes()), Exprs.i32(most));
      Var row = Var.index("row");
      Expr place = Exprs.add(rows.first(), row);
      Stmt ask =
          Exprs.evaluate(
              CacheHints.PREFETCH_BULK_L2,
              new Expr.AddressOf(weights, List.of(place, from)),
              bytes);
      Expr inside = Exprs.lt(place, Exprs.i32(weights.extent(0)));
      Expr any = Exprs.lt(from, to);
      if (!Exprs.isConst(any, 0)) {
        Stmt all =
            Stmt.For.of(
                ForKind.SERIAL, row, Exprs.i32(rows.count()), new Stmt.If(inside, ask, null));
        stmts.add(Exprs.isConst(any, 1) ? all : new Stmt.If(any, all, null));
      }
    }
    return Stmts.seq(stmts);
  }

  /** Of copies whose rows stay the same from step to step; panels beside each other are one. */
  private static List<Rows> rows(Stmt loads, Var step) {
    Map<Var, Expr> panels = new HashMap<>();
    Set<Var> bound = new HashSet<>(Set.of(step));
    Map<String, Rows> found = new LinkedHashMap<>();
    Walk.statements(
        loads,
        s -> {
          switch (s) {
            case Stmt.For f -> {
              panels.put(f.var(), f.min());
              bound.add(f.var());
            }
            case Stmt.Let let -> bound.add(let.var());
            case Stmt.Evaluate(Expr.Call call)
                when (call.op() == HopperIntrinsics.BULK_LOAD
                        || call.op() == HopperIntrinsics.BULK_LOAD_MULTICAST)
                    && call.args().get(1) instanceof Expr.AddressOf source
                    && call.args().get(3) instanceof Expr.IntImm count -> {
              Expr first = source.indices().getFirst();
              Expr column = with(panels, source.indices().getLast());
              Set<Var> others = new HashSet<>(bound);
              others.remove(step);
              if (source.buffer().rank() == 2 && !uses(first, bound) && !uses(column, others)) {
                found.putIfAbsent(
                    source.buffer().name() + " " + first,
                    new Rows(source.buffer(), first, column, count.value()));
              }
            }
            default -> {}
          }
        });
    return List.copyOf(found.values());
  }

  private static Expr with(Map<Var, Expr> values, Expr e) {
    return new Rewriter() {
      @Override
      public Expr expr(Expr inner) {
        if (inner instanceof Var v) {
          return values.getOrDefault(v, v);
        }
        Expr copy = super.expr(inner);
        return copy instanceof Expr.Binary binary ? Folding.binary(binary) : copy;
      }
    }.expr(e);
  }

  private static boolean uses(Expr e, Set<Var> vars) {
    boolean[] found = {false};
    Walk.expressions(e, each -> found[0] |= each instanceof Var v && vars.contains(v));
    return found[0];
  }
}
