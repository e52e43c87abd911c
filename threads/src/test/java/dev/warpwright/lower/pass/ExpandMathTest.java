package dev.warpwright.lower.pass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.jvm.HostCompiler;
import dev.warpwright.jvm.HostFunction;
import dev.warpwright.jvm.Parallel;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

/** Expansions against double, over all of f32 in steps, scalar and in vectors. */
class ExpandMathTest {
  private static final int SAMPLES = 1 << 20;
  private static final int LANES = 16;

  @Test
  void exp() {
    check(MathOp.EXP, Math::exp, 4);
  }

  @Test
  void exp2() {
    check(MathOp.EXP2, x -> Math.pow(2, x), 4);
  }

  @Test
  void log() {
    check(MathOp.LOG, Math::log, 4);
  }

  @Test
  void tanh() {
    check(MathOp.TANH, Math::tanh, 4);
  }

  @Test
  void erf() {
    check(MathOp.ERF, ExpandMathTest::erf, 4);
  }

  @Test
  void sin() {
    check(MathOp.SIN, Math::sin, 4);
  }

  @Test
  void cos() {
    check(MathOp.COS, Math::cos, 4);
  }

  @Test
  void floorAndCeilAreExact() {
    check(MathOp.FLOOR, Math::floor, 0);
    check(MathOp.CEIL, Math::ceil, 0);
  }

  @Test
  void argumentsBehindAGuardStayThere() {
    Buffer a = Buffer.of("A", DType.F32, Scope.GLOBAL, 4);
    Var i = Var.index("i");
    Expr guarded =
        new Expr.Select(
            Exprs.lt(i, Exprs.i32(4)), Exprs.call(MathOp.EXP, Exprs.load(a, i)), Exprs.f32(0));
    Stmt store = new Stmt.Store(a, List.of(Exprs.i32(0)), guarded);
    assertThat(ExpandMath.apply(store)).isSameAs(store);
  }

  /** The series of positive terms, a few ulp of double. */
  private static double erf(double x) {
    double a = Math.abs(x);
    if (a > 6) {
      return Math.signum(x);
    }
    double term = a;
    double sum = a;
    for (int n = 1; term > sum * 1e-18; n++) {
      term *= 2 * a * a / (2 * n + 1);
      sum += term;
    }
    return Double.isNaN(x) ? x : Math.copySign(2 / Math.sqrt(Math.PI) * Math.exp(-a * a) * sum, x);
  }

  private static void check(MathOp op, DoubleUnaryOperator exact, double mostUlps) {
    float[] x = samples();
    float[] vector = run(op, x, true);
    float[] scalar = run(op, x, false);
    double worst = 0;
    float at = 0;
    for (int i = 0; i < x.length; i++) {
      if (Float.floatToIntBits(vector[i]) != Float.floatToIntBits(scalar[i])) {
        throw new AssertionError(op + "(" + x[i] + "): " + vector[i] + " but " + scalar[i]);
      }
      double want = exact.applyAsDouble(x[i]);
      double ulps = ulps(vector[i], want);
      if (ulps > worst) {
        worst = ulps;
        at = x[i];
      }
    }
    System.out.printf(Locale.ROOT, "%s: %.2f ulp at %s%n", op, worst, at);
    assertThat(worst).as("%s at %s", op, at).isLessThanOrEqualTo(mostUlps);
  }

  private static double ulps(float got, double want) {
    if (Double.isNaN(want)) {
      return Float.isNaN(got) ? 0 : Double.POSITIVE_INFINITY;
    }
    if ((float) want == got) {
      // The sign of zero counts.
      boolean sameSign = want != 0 || 1 / want == 1 / (double) got;
      return sameSign ? 0 : Double.POSITIVE_INFINITY;
    }
    return Math.abs(got - want) / Math.ulp((float) want);
  }

  /** Bit patterns in even steps over all of f32, then the ranges that matter, densely. */
  private static float[] samples() {
    float[] x = new float[SAMPLES];
    int half = SAMPLES / 2;
    for (int i = 0; i < half; i++) {
      x[i] = Float.intBitsToFloat(i * (int) ((1L << 32) / half) + i % 7919);
    }
    for (int i = half; i < SAMPLES; i++) {
      double t = (i - half) / (double) half;
      x[i] = (float) ((t - 0.5) * (i % 3 == 0 ? 8 : i % 3 == 1 ? 200 : 20000));
    }
    float[] special = {
      0f,
      -0f,
      Float.NaN,
      Float.POSITIVE_INFINITY,
      Float.NEGATIVE_INFINITY,
      Float.MIN_VALUE,
      Float.MIN_NORMAL,
      Float.MAX_VALUE,
      -Float.MAX_VALUE,
      88.72284f,
      88.7229f,
      -103.97f,
      -87.34f,
      1f,
      (float) Math.PI,
      (float) (Math.PI / 2),
      8388608.5f,
      1e5f,
      99999.99f
    };
    System.arraycopy(special, 0, x, 0, special.length);
    return x;
  }

  private static float[] run(MathOp op, float[] x, boolean vector) {
    Buffer a = Buffer.of("A", DType.F32, Scope.GLOBAL, SAMPLES);
    Buffer b = Buffer.of("B", DType.F32, Scope.GLOBAL, SAMPLES);
    Var i = Var.index("i");
    Var l = Var.index("l");
    Expr at = Exprs.add(Exprs.mul(i, LANES), l);
    Stmt store = new Stmt.Store(b, List.of(at), Exprs.call(op, Exprs.load(a, at)));
    ForKind kind = vector ? ForKind.VECTORIZED : ForKind.SERIAL;
    Stmt loops =
        Stmt.For.of(
            ForKind.SERIAL,
            i,
            Exprs.i32(SAMPLES / LANES),
            Stmt.For.of(kind, l, Exprs.i32(LANES), store));
    Stmt body = VectorizeLoops.apply(ExpandMath.apply(loops));
    HostFunction function =
        HostCompiler.compile(
            new Kernel("f", Kernel.Kind.HOST, List.of(a, b), List.of(), body, Attrs.NONE));
    float[] y = new float[SAMPLES];
    function.run(new Object[] {x, y}, new long[0], Parallel.SERIAL);
    return y;
  }
}
