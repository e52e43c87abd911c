package dev.warpwright.ir.arith;

import static dev.warpwright.ir.Exprs.i32;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SimplifierTest {
  private final Var x = Var.index("x");
  private final Var y = Var.index("y");
  private final Var n = Var.index("n");
  private final Var b = Var.index("b");
  private final Bounds bounds =
      Bounds.of(
          Map.of(y, new Interval(0, 3), x, new Interval(0, 1000), n, new Interval(0, 100_000)));

  private static Expr bin(BinaryOp op, Expr a, Expr b) {
    return new Expr.Binary(op, a, b);
  }

  private static Expr add(Expr a, Expr b) {
    return bin(BinaryOp.ADD, a, b);
  }

  private static Expr sub(Expr a, Expr b) {
    return bin(BinaryOp.SUB, a, b);
  }

  private static Expr mul(Expr a, long b) {
    return bin(BinaryOp.MUL, a, i32(b));
  }

  private static Expr div(Expr a, long b) {
    return bin(BinaryOp.DIV, a, i32(b));
  }

  private static Expr mod(Expr a, long b) {
    return bin(BinaryOp.MOD, a, i32(b));
  }

  private static Expr lt(Expr a, Expr b) {
    return bin(BinaryOp.LT, a, b);
  }

  private void check(Expr before, Expr after) {
    assertThat(new Simplifier(bounds).expr(before)).isEqualTo(after);
  }

  @Test
  void sums() {
    check(add(mul(x, 4), mul(x, 2)), mul(x, 6));
    check(sub(x, x), i32(0));
    check(add(sub(x, i32(3)), add(n, i32(5))), add(add(x, n), i32(2)));
    check(mul(add(x, i32(2)), 3), add(mul(x, 3), i32(6)));
    check(sub(i32(5), x), add(mul(x, -1), i32(5)));
    check(bin(BinaryOp.MUL, mul(x, 4), mul(n, 2)), mul(bin(BinaryOp.MUL, x, n), 8));
  }

  @Test
  void quotientsAndRemainders() {
    check(div(add(mul(x, 4), y), 4), x);
    check(mod(add(mul(x, 4), y), 4), y);
    check(div(div(n, 3), 5), div(n, 15));
    check(mod(mod(n, 12), 4), mod(n, 4));
    check(add(mul(div(n, 8), 8), mod(n, 8)), n);
    check(sub(n, mul(div(n, 8), 8)), mod(n, 8));
    check(div(add(mul(n, 8), mul(y, 2)), 16), div(n, 2));
    check(mod(add(mul(n, 8), mul(y, 2)), 16), add(mul(mod(n, 2), 8), mul(y, 2)));
    check(div(add(n, i32(128)), 64), add(div(n, 64), i32(2)));
    check(div(y, 4), i32(0));
    check(mod(sub(y, i32(4)), 4), y);
    check(bin(BinaryOp.DIV, n, i32(-1)), mul(n, -1));
  }

  @Test
  void divisionByZeroStays() {
    check(div(n, 0), div(n, 0));
    check(mod(n, 0), mod(n, 0));
  }

  @Test
  void comparisons() {
    check(lt(y, i32(4)), Exprs.bool(true));
    check(lt(add(x, y), x), Exprs.bool(false));
    check(lt(mul(x, 4), i32(15)), lt(x, i32(4)));
    check(lt(div(n, 16), i32(4)), lt(n, i32(64)));
    check(lt(add(n, i32(3)), i32(10)), lt(n, i32(7)));
    check(lt(add(mul(n, 4), y), i32(64)), lt(n, i32(16)));
    check(bin(BinaryOp.LE, add(mul(n, 4), y), sub(mul(x, 8), i32(1))), lt(n, mul(x, 2)));
    check(lt(i32(3), n), bin(BinaryOp.GT, n, i32(3)));
    check(bin(BinaryOp.EQ, mul(x, 2), i32(7)), Exprs.bool(false));
    check(new Expr.Unary(UnaryOp.NOT, lt(n, x)), bin(BinaryOp.GE, n, x));
  }

  @Test
  void extremaAndSelects() {
    check(bin(BinaryOp.MIN, y, i32(3)), y);
    check(bin(BinaryOp.MAX, x, add(x, y)), add(x, y));
    check(bin(BinaryOp.MIN, bin(BinaryOp.MIN, n, i32(9)), i32(5)), bin(BinaryOp.MIN, n, i32(5)));
    check(new Expr.Select(lt(y, i32(9)), x, n), x);
    check(new Expr.Select(lt(n, i32(9)), x, x), x);
  }

  @Test
  void factsAboutSymbolicLoops() {
    // b < ⌈n / 64⌉, so b * 64 < n.
    Bounds loop = bounds.withRange(b, i32(0), div(add(n, i32(63)), 64));
    assertThat(new Simplifier(loop).proves(lt(mul(b, 64), n))).isTrue();
    assertThat(new Simplifier(loop).proves(lt(add(mul(b, 64), i32(1)), n))).isFalse();
    // i + 3 < n, so i + y < n.
    Bounds guarded = bounds.assuming(lt(add(x, i32(3)), n));
    assertThat(new Simplifier(guarded).proves(lt(add(x, y), n))).isTrue();
    // Without overflow even at the largest M.
    Var m = Var.index("M");
    Bounds large =
        Bounds.of(Map.of(m, new Interval(1, Integer.MAX_VALUE)))
            .withRange(b, i32(0), div(add(m, i32(63)), 64));
    assertThat(new Simplifier(large).proves(lt(mul(b, 64), m))).isTrue();
  }

  @Test
  void wrappingTypesAreLeftAlone() {
    Var u = new Var("u", Type.U32);
    Expr four = new Expr.IntImm(Type.U32, 4);
    Expr e = bin(BinaryOp.DIV, bin(BinaryOp.MUL, u, four), four);
    check(e, e);
  }

  @Test
  void floatsKeepEveryBit() {
    Var f = new Var("f", Type.F32);
    check(bin(BinaryOp.MUL, f, Exprs.f32(1)), f);
    check(bin(BinaryOp.ADD, f, Exprs.f32(0)), bin(BinaryOp.ADD, f, Exprs.f32(0)));
    check(bin(BinaryOp.ADD, f, Exprs.f32(-0.0)), f);
    check(bin(BinaryOp.ADD, Exprs.f32(0.1f), Exprs.f32(0.2f)), Exprs.f32(0.1f + 0.2f));
    check(sub(f, f), sub(f, f));
    check(new Expr.Cast(Type.F16, Exprs.f32(1.0002)), new Expr.FloatImm(Type.of(DType.F16), 1.0));
  }

  @Test
  void vectors() {
    Expr ramp = new Expr.Ramp(x, 1, 4);
    check(add(ramp, new Expr.Broadcast(i32(8), 4)), new Expr.Ramp(add(x, i32(8)), 1, 4));
    check(
        add(new Expr.Broadcast(x, 4), new Expr.Broadcast(x, 4)), new Expr.Broadcast(mul(x, 2), 4));
  }

  /**
   * A condition that is a constant says nothing of numbers, whose negation would be another one.
   */
  @Test
  void constantsThatHoldAreNoNumbers() {
    Simplifier simplifier = new Simplifier(Bounds.NONE.assuming(Exprs.bool(true)));
    assertThat(simplifier.expr(Exprs.i32(0))).isEqualTo(Exprs.i32(0));
    Expr different = new Expr.Binary(BinaryOp.NE, Exprs.i32(7), Exprs.i32(0));
    assertThat(simplifier.expr(different)).isEqualTo(Exprs.bool(true));
  }
}
