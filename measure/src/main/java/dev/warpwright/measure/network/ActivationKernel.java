package dev.warpwright.measure.network;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Activation;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What stands between two GEMMs of a library that has no epilogue for it: an activation, or the
 * activation of the first half of each row times the second half. A thread has 16 bytes of a row,
 * so that it runs at the memory's speed.
 */
final class ActivationKernel {
  private static final int THREADS = 256;
  private static final int BYTES = 16;

  private ActivationKernel() {}

  /**
   * The kernel, of parameters {@code x} and {@code y}.
   *
   * @param gated whether x has twice as many columns as y
   * @param columns of y
   */
  static Kernel of(Activation activation, boolean gated, int rows, int columns, DType type) {
    int lanes = BYTES / type.bytes();
    while (columns % lanes != 0) {
      lanes /= 2;
    }
    Buffer x = Buffer.of("x", type, Scope.GLOBAL, rows, (gated ? 2L : 1L) * columns);
    Buffer y = Buffer.of("y", type, Scope.GLOBAL, rows, columns);
    long vectors = (long) rows * (columns / lanes);
    Var block = Var.index("b");
    Var thread = Var.index("t");
    Expr at = Exprs.add(Exprs.mul(block, THREADS), thread);
    Expr row = Exprs.div(at, columns / lanes);
    Expr column = Exprs.mul(Exprs.mod(at, columns / lanes), lanes);
    Buffer gate = Buffer.of("gate", type, Scope.LOCAL, lanes);
    Buffer up = Buffer.of("up", type, Scope.LOCAL, lanes);
    Buffer result = Buffer.of("result", type, Scope.LOCAL, lanes);
    int width = lanes;
    List<Stmt> steps = new ArrayList<>();
    steps.add(move(gate, Exprs.i32(0), load(x, row, column, width), width));
    if (gated) {
      steps.add(move(up, Exprs.i32(0), load(x, row, Exprs.add(column, columns), width), width));
    }
    steps.add(
        Stmts.loop(
            ForKind.UNROLLED,
            "i",
            lanes,
            i -> {
              Expr value = activation.of(Exprs.cast(DType.F32, Exprs.load(gate, i)));
              return new Stmt.Store(
                  result,
                  List.of(i),
                  Exprs.cast(
                      type,
                      gated ? Exprs.mul(value, Exprs.cast(DType.F32, Exprs.load(up, i))) : value));
            }));
    steps.add(
        new Stmt.Store(y, List.of(row, lanes(column, width)), load(result, Exprs.i32(0), width)));
    List<Buffer> local = gated ? List.of(gate, up, result) : List.of(gate, result);
    return new Kernel(
        String.format(
            Locale.ROOT,
            "library_%s%s_%d_%d",
            activation.text(),
            gated ? "_gate" : "",
            rows,
            columns),
        Kernel.Kind.GRID,
        List.of(x, y),
        List.of(
            new ThreadBinding(ThreadAxis.BLOCK_X, block, Exprs.i32(Math.ceilDiv(vectors, THREADS))),
            new ThreadBinding(ThreadAxis.THREAD_X, thread, Exprs.i32(THREADS))),
        Stmts.when(Exprs.lt(at, Exprs.i32(vectors)), Stmts.alloc(local, Stmts.seq(steps))),
        Attrs.NONE);
  }

  private static Expr lanes(Expr first, int count) {
    return count == 1 ? first : new Expr.Ramp(first, 1, count);
  }

  private static Expr load(Buffer buffer, Expr row, Expr column, int count) {
    return new Expr.Load(buffer, List.of(row, lanes(column, count)));
  }

  private static Expr load(Buffer buffer, Expr first, int count) {
    return new Expr.Load(buffer, List.of(lanes(first, count)));
  }

  private static Stmt move(Buffer to, Expr first, Expr value, int count) {
    return new Stmt.Store(to, List.of(lanes(first, count)), value);
  }
}
