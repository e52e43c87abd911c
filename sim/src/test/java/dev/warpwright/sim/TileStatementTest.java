package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TileStatementTest {
  private static final long SEED = 77;

  /** A matmul of any size by tiles of 8×8×8; copies fill the tails with zeros. */
  private static PrimFunc tiled(DType operands, long m, long n, long k, boolean transposeB) {
    Buffer a = Buffer.of("A", operands, Scope.GLOBAL, m, k);
    Buffer b = Buffer.of("B", operands, Scope.GLOBAL, k, n);
    Buffer c = Buffer.of("C", DType.F32, Scope.GLOBAL, m, n);
    Buffer as = Buffer.of("As", operands, Scope.SHARED, 8, 8);
    Buffer bs = Buffer.of("Bs", operands, Scope.SHARED, 8, 8);
    Buffer cf = Buffer.of("Cf", DType.F32, Scope.FRAGMENT, 8, 8);
    Var bi = Var.index("bi");
    Var bj = Var.index("bj");
    Var p = Var.index("p");
    Region aTile = tile(a, bi, p);
    Region bTile = tile(b, p, bj);
    Stmt step =
        Stmts.seq(
            new Stmt.TileCopy(Region.whole(as), aTile, Attrs.NONE),
            transposeB ? transposed(bs, b, p, bj) : copy(Region.whole(bs), bTile),
            new Stmt.TileMma(
                Region.whole(cf), Region.whole(as), Region.whole(bs), transposeB, Attrs.NONE));
    Stmt work =
        Stmts.seq(
            new Stmt.TileFill(Region.whole(cf), Exprs.f32(0), Attrs.NONE),
            Stmt.For.of(ForKind.PIPELINED, p, Exprs.i32((k + 7) / 8), step),
            copy(tile(c, bi, bj), Region.whole(cf)));
    Stmt body =
        Stmt.For.of(
            ForKind.PERSISTENT,
            bi,
            Exprs.i32((m + 7) / 8),
            Stmt.For.of(
                ForKind.PARALLEL,
                bj,
                Exprs.i32((n + 7) / 8),
                Stmts.alloc(List.of(as, bs, cf), work)));
    return Programs.func("tiled", body, a, b, c);
  }

  private static Stmt copy(Region to, Region from) {
    return new Stmt.TileCopy(to, from, Attrs.NONE);
  }

  /** A map that stores the transposed tile, with the zero fill written out. */
  private static Stmt transposed(Buffer bs, Buffer b, Expr p, Expr bj) {
    Var r = Var.index("r");
    Var q = Var.index("q");
    Expr row = Exprs.add(Exprs.mul(p, 8), r);
    Expr col = Exprs.add(Exprs.mul(bj, 8), q);
    Expr inside = Exprs.and(Exprs.lt(row, b.shape().get(0)), Exprs.lt(col, b.shape().get(1)));
    Expr load = Exprs.load(b, row, col);
    Expr value = Exprs.select(inside, load, Exprs.zero(load.type()));
    return new Stmt.TileMap(
        List.of(r, q),
        List.of(Exprs.i32(8), Exprs.i32(8)),
        List.of(new Stmt.Store(bs, List.of(q, r), value)),
        Attrs.NONE);
  }

  private static Region tile(Buffer buffer, Expr i, Expr j) {
    return new Region(
        buffer,
        List.of(
            new Range(Exprs.mul(i, 8), Exprs.i32(8)), new Range(Exprs.mul(j, 8), Exprs.i32(8))));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 8, 17})
  void tiledMatmulEqualsThePlainOneBitForBit(int size) {
    for (boolean transposeB : new boolean[] {false, true}) {
      for (Options.Order order : Options.Order.values()) {
        PrimFunc plain = Programs.matmul(DType.F16, size, size + 2, size + 5);
        PrimFunc tiled = tiled(DType.F16, size, size + 2, size + 5, transposeB);
        Arguments x = Arguments.random(plain.params(), SEED);
        Arguments y = Arguments.random(tiled.params(), SEED);
        y.get("C").poison();
        Interpreter.run(plain, x);
        Interpreter.of(tiled, Options.CHECKED.withOrder(order, SEED)).run(y);
        assertThat(y.get("C").sameBits(x.get("C"))).as("%d %s %s", size, order, SEED).isTrue();
      }
    }
  }

  @Test
  void errorsNameTheTileStatement() {
    Buffer a = Buffer.of("a", DType.F32, Scope.GLOBAL, 4);
    Buffer s = Buffer.of("s", DType.F32, Scope.SHARED, 4);
    Stmt body = new Stmt.Alloc(s, new Stmt.TileCopy(Region.whole(a), Region.whole(s), Attrs.NONE));
    PrimFunc func = Programs.func("early", body, a);
    assertThatThrownBy(
            () -> Interpreter.of(func, Options.CHECKED).run(Arguments.random(func.params(), SEED)))
        .hasMessageContaining("never written: s[0]")
        .hasMessageContaining("in line 3 'tile.copy a");
  }

  @Test
  void mmaRoundsOperandsToTf32() {
    Buffer a = Buffer.of("a", DType.F32, Scope.GLOBAL, 2, 2);
    Buffer c = Buffer.of("c", DType.F32, Scope.GLOBAL, 2, 2);
    Attrs attrs = Attrs.NONE.with("instr", "mma.m16n8k8.tf32");
    Stmt body =
        Stmts.seq(
            new Stmt.TileFill(Region.whole(c), Exprs.f32(0), Attrs.NONE),
            new Stmt.TileMma(Region.whole(c), Region.whole(a), Region.whole(a), false, attrs));
    PrimFunc func = Programs.func("tf32", body, a, c);
    NdArray identity =
        NdArray.zeros(DType.F32, 2, 2).fillWith(at -> at[0] == at[1] ? 1 + 0x1p-20 : 0);
    Arguments arguments =
        Arguments.inOrder(func.params(), identity, NdArray.zeros(DType.F32, 2, 2).poison());
    Interpreter.run(func, arguments);
    assertThat(arguments.get("c").toFloats()).containsExactly(1, 0, 0, 1);
    Interpreter.of(func, Options.DOUBLE).run(arguments);
    assertThat(arguments.get("c").get(0, 0)).isEqualTo((float) Math.pow(1 + 0x1p-20, 2));
  }

  @Test
  void reduceCombinesIntoWhatIsThere() {
    Buffer x = Buffer.of("x", DType.F32, Scope.GLOBAL, 3, 5);
    Buffer sum = Buffer.of("sum", DType.F32, Scope.GLOBAL, 3);
    Buffer max = Buffer.of("max", DType.F32, Scope.GLOBAL, 3);
    Var i = Var.index("i");
    Var j = Var.index("j");
    Var i2 = Var.index("i");
    Var j2 = Var.index("j");
    Stmt body =
        Stmts.seq(
            reduce(ReduceOp.SUM, sum, i, j, Exprs.load(x, i, j)),
            reduce(ReduceOp.MAX, max, i2, j2, Exprs.load(x, i2, j2)));
    PrimFunc func = Programs.func("reduce", body, x, sum, max);
    Arguments arguments = Arguments.random(func.params(), SEED);
    arguments.get("sum").fill(10);
    arguments.get("max").fill(-5);
    Interpreter.run(func, arguments);
    float expected = 10;
    float largest = -5;
    for (int k = 0; k < 5; k++) {
      expected += (float) arguments.get("x").get(1, k);
      largest = Math.max(largest, (float) arguments.get("x").get(1, k));
    }
    assertThat(arguments.get("sum").get(1)).isEqualTo(expected);
    assertThat(arguments.get("max").get(1)).isEqualTo(largest);
  }

  private static Stmt reduce(ReduceOp op, Buffer to, Var i, Var j, Expr value) {
    return new Stmt.TileReduce(
        op,
        List.of(i),
        List.of(Exprs.i32(3)),
        List.of(j),
        List.of(Exprs.i32(5)),
        to,
        List.of(i),
        value,
        Attrs.NONE);
  }
}
