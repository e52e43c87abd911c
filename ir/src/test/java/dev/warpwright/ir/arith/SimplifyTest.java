package dev.warpwright.ir.arith;

import static dev.warpwright.ir.Exprs.i32;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimplifyTest {
  private final Buffer out = Buffer.of("out", DType.F32, Scope.GLOBAL, 64);
  private final Var i = Var.index("i");
  private final Var m = Var.index("M");

  private Stmt store(Expr index) {
    return new Stmt.Store(out, List.of(index), Exprs.f32(1));
  }

  private static Stmt simplify(Stmt s) {
    return Simplify.stmt(s, Bounds.NONE);
  }

  @Test
  void guardKnownFromTheLoopDisappears() {
    Stmt loop =
        Stmt.For.of(ForKind.SERIAL, i, i32(8), new Stmt.If(Exprs.lt(i, i32(8)), store(i), null));
    assertThat(simplify(loop)).isEqualTo(Stmt.For.of(ForKind.SERIAL, i, i32(8), store(i)));
  }

  @Test
  void innerGuardKnownFromTheOuterOneDisappears() {
    Expr guard = Exprs.lt(i, m);
    Stmt nested = new Stmt.If(guard, new Stmt.If(guard, store(i), store(i32(0))), null);
    assertThat(simplify(nested)).isEqualTo(new Stmt.If(guard, store(i), null));
  }

  @Test
  void conditionsOnMemoryTeachNothing() {
    Expr guard = Exprs.lt(new Expr.Cast(Type.I32, Exprs.load(out, i)), i32(3));
    Stmt nested = new Stmt.If(guard, new Stmt.If(guard, store(i), null), null);
    assertThat(simplify(nested)).isEqualTo(nested);
  }

  @Test
  void shortLoops() {
    assertThat(simplify(Stmt.For.of(ForKind.SERIAL, i, i32(0), store(i))))
        .isEqualTo(Stmt.Seq.EMPTY);
    Stmt once =
        new Stmt.For(
            i,
            i32(5),
            i32(1),
            ForKind.UNROLLED,
            null,
            dev.warpwright.ir.Attrs.NONE,
            store(Exprs.add(i, 2)));
    assertThat(simplify(once)).isEqualTo(store(i32(7)));
    Stmt parallel = Stmt.For.of(ForKind.PARALLEL, i, i32(1), store(i32(0)));
    assertThat(simplify(parallel)).isSameAs(parallel);
  }

  @Test
  void emptyStatementsDisappear() {
    Stmt nothing =
        new Stmt.Seq(
            List.of(
                Stmt.Seq.EMPTY,
                new Stmt.If(Exprs.lt(i, m), Stmt.Seq.EMPTY, null),
                new Stmt.Alloc(out, Stmt.Seq.EMPTY),
                store(i)));
    assertThat(simplify(nothing)).isEqualTo(store(i));
    assertThat(simplify(new Stmt.If(Exprs.lt(i, m), Stmt.Seq.EMPTY, store(i))))
        .isEqualTo(new Stmt.If(Exprs.ge(i, m), store(i), null));
  }

  @Test
  void letsOfConstantsAreReplacedAndOthersKnown() {
    Var v = Var.index("v");
    assertThat(simplify(new Stmt.Let(v, Exprs.add(i32(1), i32(2)), store(v))))
        .isEqualTo(store(i32(3)));
    Stmt let = new Stmt.Let(v, Exprs.mod(i, 4), new Stmt.If(Exprs.lt(v, i32(4)), store(v), null));
    assertThat(simplify(let)).isEqualTo(new Stmt.Let(v, Exprs.mod(i, 4), store(v)));
  }

  @Test
  void unchangedIsTheSameInstance() {
    Stmt s = Stmts.seq(store(i), Stmt.For.of(ForKind.SERIAL, i, m, store(i)));
    assertThat(simplify(s)).isSameAs(s);
  }

  @Test
  void affineForms() {
    Var j = Var.index("j");
    Expr e = Exprs.add(Exprs.add(Exprs.mul(i, 4), Exprs.mul(j, -2)), Exprs.add(m, 3));
    Affine affine = Affine.of(e, List.of(i, j)).orElseThrow();
    assertThat(affine.coefficient(i)).isEqualTo(4);
    assertThat(affine.coefficient(j)).isEqualTo(-2);
    assertThat(affine.base()).isEqualTo(Exprs.add(m, 3));
    assertThat(Affine.of(Exprs.div(i, 4), List.of(i))).isEmpty();
    assertThat(Affine.of(new Expr.Binary(BinaryOp.MUL, i, m), List.of(i))).isEmpty();
    assertThat(Affine.of(Exprs.div(m, 4), List.of(i))).isPresent();
    assertThat(Affine.of(Exprs.div(m, 4))).isEmpty();
    assertThat(Affine.of(e).orElseThrow().coefficients()).containsOnlyKeys(i, j, m);
  }
}
