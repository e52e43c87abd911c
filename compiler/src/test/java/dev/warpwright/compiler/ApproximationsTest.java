package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Value;
import dev.warpwright.synthetic.NetworkDeviation;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.tensor.Approximations;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What becomes of functions in 16 bits, and what of it verification allows. */
final class ApproximationsTest {
  /** Nothing but the instruction: all else would be executed once an element. */
  @Test
  void sinesAreOneInstruction() {
    Expr x = Exprs.cast(DType.F32, Var.index("i"));
    assertThat(Approximations.of(Exprs.call(MathOp.SIN, x), DType.F16))
        .isEqualTo(new Expr.Call(MathOp.SIN_APPROX, List.of(x), Type.F32));
    assertThat(Approximations.of(Exprs.call(MathOp.COS, x), DType.BF16))
        .isEqualTo(new Expr.Call(MathOp.COS_APPROX, List.of(x), Type.F32));
  }

  /** At 10000, an argument is 2^-22.5 of itself away, 0.0017, and the slope is 0.95. */
  @Test
  void sinesOfLargeArgumentsMayBeFurtherOff() {
    assertThat(deviation(Activation.SIN, Precision.F16, 10000)).isBetween(3e-4, 1.7e-3);
    assertThat(deviation(Activation.COS, Precision.F16, 10000)).isBetween(1e-4, 0.6e-3);
    assertThat(deviation(Activation.SIN, Precision.F16, 1)).isBetween(1e-7, 2e-6);
    assertThat(deviation(Activation.SIN, Precision.F32, 10000)).isLessThan(1e-6);
    assertThat(deviation(Activation.TANH, Precision.F16, 10000)).isLessThan(2e-6);
  }

  /** By one of the function units' instructions where bf16 rounds away what that is off. */
  @Test
  void tangentsAreOneInstructionInBf16() {
    Expr x = Exprs.cast(DType.F32, Var.index("i"));
    Expr tanh = Exprs.call(MathOp.TANH, x);
    Expr one = new Expr.Call(MathOp.TANH_APPROX, List.of(x), Type.F32);
    assertThat(Approximations.of(tanh, DType.BF16)).isEqualTo(one);
    assertThat(calls(Approximations.of(tanh, DType.F16)))
        .contains(MathOp.EXP2_APPROX, MathOp.RCP_APPROX)
        .doesNotContain(MathOp.TANH_APPROX);
    // Where it nearly cancels it is as exact as ever.
    assertThat(calls(Approximations.of(Exprs.sub(x, tanh), DType.BF16)))
        .contains(MathOp.EXP2_APPROX, MathOp.RCP_APPROX)
        .doesNotContain(MathOp.TANH_APPROX);
    assertThat(deviation(Activation.TANH, Precision.BF16, 1)).isBetween(1e-6, 0.77 * 0x1p-11);
    assertThat(deviation(Activation.TANH, Precision.F16, 1)).isLessThan(2e-6);
    assertThat(deviation(Activation.GELU_TANH, Precision.BF16, 1)).isLessThan(2e-6);
  }

  /** One of the function units' instructions. */
  @Test
  void gelusTakeOneFunctionAndTenOthers() {
    Var x = new Var("x", Type.F32);
    Expr gelu = Approximations.of(Activation.GELU.of(x), DType.F16);
    assertThat(calls(gelu)).containsOnlyOnce(MathOp.EXP2_APPROX).doesNotContain(MathOp.RCP_APPROX);
    double worst = 0;
    for (float at = -12; at < 12; at += 1f / 1024) {
      double exact = Activation.GELU.at(at);
      worst = Math.max(worst, Math.abs(value(gelu, at) - exact) / Math.max(1, Math.abs(exact)));
    }
    assertThat(worst).isBetween(1e-6, 0.51 * Approximations.ERF);
    assertThat(value(gelu, -3) / Activation.GELU.at(-3)).isCloseTo(1, within(3e-4));
    assertThat(value(gelu, 1e30f)).isEqualTo(1e30f);
    assertThat(value(gelu, -1e30f)).isZero();
    assertThat(value(gelu, Float.POSITIVE_INFINITY)).isPositive().isInfinite();
    assertThat(value(gelu, Float.NaN)).isNaN();
    assertThat(deviation(Activation.GELU, Precision.F16, 1)).isBetween(1e-6, 6e-6);
  }

  @Test
  void errorFunctionsAreWhatIsLeftOfThem() {
    Var x = new Var("x", Type.F32);
    Expr erf = Approximations.of(Activation.ERF.of(x), DType.BF16);
    for (float at = -6; at < 6; at += 1f / 1024) {
      assertThat((double) value(erf, at))
          .isCloseTo(Activation.ERF.at(at), within(Approximations.ERF));
    }
    assertThat(value(erf, Float.NEGATIVE_INFINITY)).isEqualTo(-1);
    assertThat(value(erf, Float.NaN)).isNaN();
  }

  /** In f32, as executors compute it. */
  private static float value(Expr e, float x) {
    return switch (e) {
      case Var _ -> x;
      case Expr.FloatImm imm -> (float) imm.value();
      case Expr.Select s ->
          value(s.condition(), x) != 0 ? value(s.then(), x) : value(s.otherwise(), x);
      case Expr.Binary b -> binary(b.op(), value(b.a(), x), value(b.b(), x));
      case Expr.Call c when c.op() == MathOp.FMA ->
          Math.fma(value(c.args().get(0), x), value(c.args().get(1), x), value(c.args().get(2), x));
      case Expr.Call c when c.op() == MathOp.ABS -> Math.abs(value(c.args().getFirst(), x));
      case Expr.Call c when c.op() == MathOp.EXP2_APPROX ->
          (float) Math.pow(2, value(c.args().getFirst(), x));
      default -> throw new IllegalArgumentException(e.toString());
    };
  }

  private static float binary(BinaryOp op, float a, float b) {
    return switch (op) {
      case ADD -> a + b;
      case SUB -> a - b;
      case MUL -> a * b;
      case LT -> a < b ? 1 : 0;
      default -> throw new IllegalArgumentException(op.toString());
    };
  }

  private static List<MathOp> calls(Expr e) {
    List<MathOp> calls = new ArrayList<>();
    Walk.expressions(
        e,
        inner -> {
          if (inner instanceof Expr.Call(MathOp op, List<Expr> _, Type _)) {
            calls.add(op);
          }
        });
    return calls;
  }

  /** Of a function of one argument, which f16 holds. */
  private static double deviation(Activation function, Precision precision, double x) {
    Value input = value("x");
    Value output = value("y");
    Elementwise node = new Elementwise(output, function, List.of(new Operand.OfValue(input)), "f");
    Graph graph = new Graph("g", List.of(input), List.of(output), List.of(node));
    return NetworkDeviation.of(graph, precision, 1, List.of(new double[] {x})).getFirst()[0];
  }

  private static Value value(String name) {
    return new Value(name, DType.F32, 1, List.of(new Dim.Symbolic("rows")));
  }
}
