package dev.warpwright.lower.host;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/** The tile program of a fused fully connected network over blocks of rows. */
record MlpProgram(PrimFunc func, Set<Buffer> constants) {
  static final UnaryOperator<Expr> RELU = e -> Exprs.max(e, Exprs.f32(0));

  /** Widths from input to output; {@code activation} after every layer but the last. */
  static MlpProgram of(
      int[] widths, int bm, long mostRows, DType weights, UnaryOperator<Expr> activation) {
    Var m = Var.index("M");
    Buffer x = Buffer.of("X", DType.F32, Scope.GLOBAL, List.of(m, Exprs.i32(widths[0])));
    Buffer y =
        Buffer.of("Y", DType.F32, Scope.GLOBAL, List.of(m, Exprs.i32(widths[widths.length - 1])));
    Set<Buffer> constants = new HashSet<>();
    List<Param> params = new ArrayList<>(List.of(x));
    List<Buffer> allocs = new ArrayList<>();
    List<Stmt> body = new ArrayList<>();
    Var block = Var.index("block");
    Expr row = Exprs.mul(block, bm);
    Buffer in = Buffer.of("x0", DType.F32, Scope.SHARED, bm, widths[0]);
    allocs.add(in);
    body.add(new Stmt.TileCopy(Region.whole(in), rows(x, row, bm), Attrs.NONE));
    for (int l = 1; l < widths.length; l++) {
      Buffer w = Buffer.of("W" + l, weights, Scope.GLOBAL, widths[l], widths[l - 1]);
      Buffer b = Buffer.of("b" + l, DType.F32, Scope.GLOBAL, widths[l]);
      Buffer acc = Buffer.of("acc" + l, DType.F32, Scope.FRAGMENT, bm, widths[l]);
      Buffer out = Buffer.of("x" + l, DType.F32, Scope.SHARED, bm, widths[l]);
      constants.addAll(List.of(w, b));
      params.addAll(List.of(w, b));
      allocs.addAll(List.of(acc, out));
      body.add(new Stmt.TileFill(Region.whole(acc), Exprs.f32(0), Attrs.NONE));
      body.add(
          new Stmt.TileMma(Region.whole(acc), Region.whole(in), Region.whole(w), true, Attrs.NONE));
      Var i = Var.index("i");
      Var j = Var.index("j");
      Expr sum = Exprs.add(Exprs.load(acc, i, j), Exprs.load(b, j));
      Expr value = l == widths.length - 1 ? sum : activation.apply(sum);
      body.add(
          new Stmt.TileMap(
              List.of(i, j),
              List.of(Exprs.i32(bm), Exprs.i32(widths[l])),
              List.of(new Stmt.Store(out, List.of(i, j), value)),
              Attrs.NONE));
      in = out;
    }
    body.add(new Stmt.TileCopy(rows(y, row, bm), Region.whole(in), Attrs.NONE));
    params.add(y);
    params.add(new ScalarParam(m, 1, mostRows));
    Stmt loop =
        Stmt.For.of(
            ForKind.PARALLEL, block, Exprs.ceilDiv(m, bm), Stmts.alloc(allocs, Stmts.seq(body)));
    return new MlpProgram(new PrimFunc("mlp", params, loop, Attrs.NONE), constants);
  }

  private static Region rows(Buffer buffer, Expr first, int count) {
    return new Region(
        buffer,
        List.of(
            new Range(first, Exprs.i32(count)), new Range(Exprs.i32(0), buffer.shape().get(1))));
  }
}
