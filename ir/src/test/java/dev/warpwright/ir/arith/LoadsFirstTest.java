package dev.warpwright.ir.arith;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoadsFirstTest {
  private static final Buffer X = Buffer.of("x", DType.F32, Scope.GLOBAL, 128);
  private static final Buffer Y = Buffer.of("y", DType.F32, Scope.GLOBAL, 128);
  private static final Buffer TO = Buffer.of("to", DType.F32, Scope.GLOBAL, 128);
  private static final Var I = Var.index("i");
  private static final Bounds BOUNDS = Bounds.NONE.withRange(I, Exprs.i32(0), Exprs.i32(128));
  private static final Expr FIRST = Exprs.lt(I, Exprs.i32(64));

  private static Stmt taken(Expr e) {
    return LoadsFirst.of(e, BOUNDS, bare -> new Stmt.Store(TO, List.of(I), bare));
  }

  /** What is read, in order. */
  private static List<Expr> reads(Stmt s) {
    List<Expr> reads = new ArrayList<>();
    for (Stmt at = s; at instanceof Stmt.Let let; at = let.body()) {
      reads.add(let.value());
    }
    return reads;
  }

  private static Expr used(Stmt s) {
    Stmt at = s;
    while (at instanceof Stmt.Let let) {
      at = let.body();
    }
    return ((Stmt.Store) at).value();
  }

  private static boolean loads(Expr e) {
    boolean[] found = {false};
    Walk.expressions(e, inner -> found[0] |= inner instanceof Expr.Load);
    return found[0];
  }

  @Test
  void bothSidesOfASelectReadAtOnce() {
    Expr behind = Exprs.load(X, Exprs.add(I, 64));
    Expr before = Exprs.load(X, Exprs.sub(I, Exprs.i32(64)));
    Stmt s = taken(Exprs.select(FIRST, new Expr.Unary(UnaryOp.NEG, behind), before));
    assertThat(reads(s))
        .hasToString("[" + Exprs.load(X, Exprs.select(FIRST, index(behind), index(before))) + "]");
    assertThat(used(s))
        .isInstanceOfSatisfying(
            Expr.Select.class,
            select ->
                assertThat(select.then())
                    .isEqualTo(new Expr.Unary(UnaryOp.NEG, select.otherwise())));
  }

  private static Expr index(Expr load) {
    return ((Expr.Load) load).indices().getFirst();
  }

  @Test
  void whatIsReadOnOneSideIsTheFirstElementOnTheOther() {
    Stmt s = taken(Exprs.select(FIRST, Exprs.load(X, I), Exprs.load(Y, I)));
    assertThat(reads(s))
        .containsExactly(
            Exprs.load(X, Exprs.select(FIRST, I, Exprs.i32(0))),
            Exprs.load(Y, Exprs.select(FIRST, Exprs.i32(0), I)));
    assertThat(loads(used(s))).isFalse();
  }

  @Test
  void theSameElementIsReadOnce() {
    Expr twice = Exprs.add(Exprs.load(X, I), Exprs.load(X, I));
    Stmt s = taken(Exprs.select(FIRST, twice, Exprs.load(X, I)));
    assertThat(reads(s)).containsExactly(Exprs.load(X, I));
  }

  /** Where a half of a row begins in another: which half says the outer select. */
  @Test
  void conditionsOnWhatWasSelectedAreTheSelectionsOwn() {
    Expr place = Exprs.select(FIRST, I, Exprs.add(I, 64));
    Expr inFirst = Exprs.load(X, Exprs.min(place, Exprs.i32(63)));
    Expr inSecond = Exprs.load(Y, Exprs.max(Exprs.sub(place, Exprs.i32(128)), Exprs.i32(0)));
    Stmt s = taken(Exprs.select(Exprs.lt(place, Exprs.i32(100)), inFirst, inSecond));
    assertThat(used(s))
        .isInstanceOfSatisfying(
            Expr.Select.class, select -> assertThat(select.condition()).isEqualTo(FIRST));
    assertThat(reads(s))
        .containsExactly(
            Exprs.load(X, Exprs.select(FIRST, I, Exprs.i32(0))),
            Exprs.load(Y, Exprs.select(FIRST, Exprs.i32(0), Exprs.sub(I, Exprs.i32(64)))));
  }

  @Test
  void whatIsDecidedIsNotRead() {
    Expr decided = Exprs.select(Exprs.lt(I, Exprs.i32(128)), Exprs.load(X, I), Exprs.load(Y, I));
    assertThat(reads(taken(decided))).containsExactly(Exprs.load(X, I));
  }
}
