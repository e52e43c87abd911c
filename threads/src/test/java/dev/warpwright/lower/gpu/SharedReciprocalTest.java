package dev.warpwright.lower.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Pairs of values with one reciprocal, beside double precision and the values each by itself. */
class SharedReciprocalTest {
  private static final Stmt NOTHING = Stmts.seq(List.of());
  private static final Var X = new Var("x", Type.F32);
  private static final Var Y = new Var("y", Type.F32);

  /** Five roundings to f32, doubled by tanh; 16 bits round by 2^-12. */
  private static final double ROUNDING = 0x1p-21;

  private static final float[] EDGES = {
    0,
    -0f,
    1e-30f,
    24,
    -24,
    -42.9f,
    -43,
    -87,
    -88,
    -89,
    100,
    -100,
    -1e4f,
    1e10f,
    -1e10f,
    -1e30f,
    Float.MAX_VALUE,
    -Float.MAX_VALUE,
    Float.POSITIVE_INFINITY,
    Float.NEGATIVE_INFINITY,
    Float.NaN
  };

  private static Expr sigmoid(Expr x) {
    Expr power = Exprs.mul(new Expr.Unary(UnaryOp.NEG, x), Exprs.f32(1.4426950408889634));
    Expr divisor = Exprs.add(Exprs.f32(1), Exprs.call(MathOp.EXP2_APPROX, power));
    return new Expr.Binary(BinaryOp.MUL, Exprs.f32(1), Exprs.call(MathOp.RCP_APPROX, divisor));
  }

  private static Expr silu(Expr x) {
    return Exprs.mul(x, sigmoid(x));
  }

  private static Expr tanh(Expr x) {
    Expr power = Exprs.call(MathOp.EXP2_APPROX, Exprs.mul(x, Exprs.f32(2 * 1.4426950408889634)));
    Expr share = Exprs.call(MathOp.RCP_APPROX, Exprs.add(power, Exprs.f32(1)));
    return Exprs.fma(share, Exprs.f32(-2), Exprs.f32(1));
  }

  @Test
  void activationsAreWhatTheyWere() {
    agree(SharedReciprocalTest::sigmoid, x -> 1 / (1 + Math.exp(-x)));
    agree(
        SharedReciprocalTest::silu,
        x -> x == Double.NEGATIVE_INFINITY ? -0.0 : x / (1 + Math.exp(-x)));
    agree(SharedReciprocalTest::tanh, Math::tanh);
  }

  private static void agree(UnaryOperator<Expr> formula, DoubleUnaryOperator exact) {
    for (float x : EDGES) {
      for (float y : EDGES) {
        agree(formula, exact, x, y);
      }
    }
    Random random = new Random(3);
    for (int i = 0; i < 20000; i++) {
      agree(formula, exact, 30 * (float) random.nextGaussian(), 30 * (float) random.nextGaussian());
    }
  }

  private static void agree(
      UnaryOperator<Expr> formula, DoubleUnaryOperator exact, float x, float y) {
    SharedReciprocal shared = new SharedReciprocal();
    SharedReciprocal.Pair pair = shared.of(formula.apply(X), formula.apply(Y));
    Map<Var, Float> values = values(shared, x, y);
    agree(value(pair.first(), values), value(formula.apply(X), values), exact, x);
    agree(value(pair.second(), values), value(formula.apply(Y), values), exact, y);
  }

  /** Of the operands, and of what is computed ahead of the pair. */
  private static Map<Var, Float> values(SharedReciprocal shared, float x, float y) {
    Map<Var, Float> values = new HashMap<>(Map.of(X, x, Y, y));
    Stmt around = shared.around(NOTHING);
    while (around instanceof Stmt.Let(Var var, Expr value, Stmt body)) {
      values.put(var, value(value, values));
      around = body;
    }
    return values;
  }

  /**
   * Within rounding of the greater of 1 and the value; what is no number or infinite is the same.
   */
  private static void agree(float shared, float alone, DoubleUnaryOperator exact, float x) {
    if (Float.isFinite(alone)) {
      double value = exact.applyAsDouble(x);
      assertThat((double) shared)
          .as("of %s", x)
          .isFinite()
          .isCloseTo(value, within(ROUNDING * Math.max(1, Math.abs(value))));
    } else {
      assertThat(shared).as("of %s", x).isEqualTo(Float.valueOf(alone));
    }
  }

  /** Large values of one do not show in the other, and less than f16 has is exactly 0. */
  @Test
  void whatIsLostIsZero() {
    SharedReciprocal shared = new SharedReciprocal();
    SharedReciprocal.Pair pair = shared.of(silu(X), silu(Y));
    Map<Var, Float> values = values(shared, -1e20f, -3);
    assertThat(value(pair.first(), values)).isEqualTo(-0f);
    assertThat((double) value(pair.second(), values))
        .isCloseTo(-3 / (1 + Math.exp(3)), within(1e-7));
  }

  @Test
  void threeCallsOfFunctionUnitsAreLeft() {
    assertThat(calls(SharedReciprocalTest::silu)).isEqualTo(3);
    assertThat(calls(SharedReciprocalTest::sigmoid)).isEqualTo(3);
    assertThat(calls(SharedReciprocalTest::tanh)).isEqualTo(3);
    assertThat(calls(x -> Exprs.mul(silu(x), tanh(x)))).isEqualTo(6);
    assertThat(calls(x -> silu(silu(x)))).isEqualTo(6);
  }

  /** Behind a mask where nothing but registers is read: memory may not be there. */
  @Test
  void masksStayAroundWhatIsRead() {
    assertThat(calls(x -> masked(silu(x)))).isEqualTo(3);
    for (Scope scope : List.of(Scope.LOCAL, Scope.GLOBAL)) {
      Buffer from = Buffer.of("from", DType.F32, scope, 8);
      UnaryOperator<Expr> read =
          x -> new Expr.Load(from, List.of(x == X ? Exprs.i32(0) : Exprs.i32(1)));
      assertThat(calls(x -> masked(silu(read.apply(x))))).isEqualTo(scope == Scope.LOCAL ? 3 : 4);
      assertThat(calls(x -> silu(read.apply(x)))).isEqualTo(3);
    }
  }

  private static Expr masked(Expr value) {
    return new Expr.Select(Exprs.lt(Var.index("column"), Exprs.i32(5)), value, Exprs.f32(0));
  }

  @Test
  void otherReciprocalsAreLeftAlone() {
    // May be zero.
    assertThat(calls(x -> Exprs.call(MathOp.RCP_APPROX, x))).isEqualTo(2);
    // In an arm of a choice.
    assertThat(calls(x -> new Expr.Select(Exprs.lt(x, Exprs.f32(3)), silu(x), x))).isEqualTo(4);
    // Nothing to share.
    SharedReciprocal shared = new SharedReciprocal();
    assertThat(shared.of(silu(X), silu(X))).isEqualTo(new SharedReciprocal.Pair(silu(X), silu(X)));
    assertThat(shared.of(silu(X), Exprs.f32(0)))
        .isEqualTo(new SharedReciprocal.Pair(silu(X), Exprs.f32(0)));
    assertThat(shared.around(NOTHING)).isEqualTo(NOTHING);
  }

  /** GELU by tanh waits for additions and multiplications as long as for function units. */
  @Test
  void longFormulasAreLeftAlone() {
    assertThat(
            calls(
                x -> {
                  Expr cube = Exprs.mul(Exprs.mul(x, x), x);
                  Expr inner =
                      Exprs.mul(Exprs.fma(Exprs.f32(0.044715), cube, x), Exprs.f32(0.79788456));
                  return Exprs.mul(
                      Exprs.mul(x, Exprs.f32(0.5)), Exprs.add(Exprs.f32(1), tanh(inner)));
                }))
        .isEqualTo(4);
  }

  /** Calls of function units of a pair, of equal ones one. */
  private static int calls(UnaryOperator<Expr> formula) {
    SharedReciprocal shared = new SharedReciprocal();
    SharedReciprocal.Pair pair = shared.of(formula.apply(X), formula.apply(Y));
    Map<Expr, Boolean> found = new HashMap<>();
    Walk.expressions(pair.first(), e -> found.put(e, isFunction(e)));
    Walk.expressions(pair.second(), e -> found.put(e, isFunction(e)));
    Walk.all(shared.around(NOTHING), s -> {}, e -> found.put(e, isFunction(e)));
    return (int) found.values().stream().filter(function -> function).count();
  }

  private static boolean isFunction(Expr e) {
    return e instanceof Expr.Call call
        && (call.op() == MathOp.RCP_APPROX || call.op() == MathOp.EXP2_APPROX);
  }

  /** As a GPU computes it, with exact functions. */
  private static float value(Expr e, Map<Var, Float> values) {
    return switch (e) {
      case Var v -> values.get(v);
      case Expr.FloatImm imm -> (float) imm.value();
      case Expr.Unary(UnaryOp _, Expr a) -> -value(a, values);
      case Expr.Select(Expr.Binary(BinaryOp op, Expr a, Expr b), Expr then, Expr otherwise) -> {
        float left = value(a, values);
        float right = value(b, values);
        yield value((op == BinaryOp.LT ? left < right : left <= right) ? then : otherwise, values);
      }
      case Expr.Binary(BinaryOp op, Expr a, Expr b) ->
          op == BinaryOp.ADD
              ? value(a, values) + value(b, values)
              : value(a, values) * value(b, values);
      case Expr.Call call -> {
        List<Float> args = call.args().stream().map(a -> value(a, values)).toList();
        float first = args.getFirst();
        if (call.op() == MathOp.EXP2_APPROX) {
          yield flushed((float) Math.pow(2, first));
        }
        if (call.op() == MathOp.RCP_APPROX) {
          yield flushed(1 / flushed(first));
        }
        float sum = Math.fma(first, args.get(1), args.get(2));
        yield call.op() == Intrinsics.FMA_SAT_F32 ? sum > 0 ? Math.min(sum, 1) : 0 : sum;
      }
      default -> throw new IllegalArgumentException(e.toString());
    };
  }

  private static float flushed(float x) {
    return Math.abs(x) < Float.MIN_NORMAL ? Math.copySign(0, x) : x;
  }
}
