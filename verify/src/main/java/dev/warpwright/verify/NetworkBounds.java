package dev.warpwright.verify;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.InputUpdates;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Value;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Pointwise;
import dev.warpwright.workload.Precision;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a network takes at least on a device, however it is computed: each input, output and weight
 * moves once (of an output that is an input but for some columns, those columns), each product
 * takes its tensor cores (or, in f32, its multipliers), each transcendental function a
 * special-function unit.
 *
 * @param flops a multiply-add counting as two
 * @param bytes between memory and chip
 * @param specials operations of special-function units
 * @param bytesUs not a number where the device is not known, as the others
 */
public record NetworkBounds(
    double flops,
    double bytes,
    double specials,
    double bytesUs,
    double productsUs,
    double specialUs) {
  /** Results of the special-function units of an SM in a clock. */
  private static final double SPECIALS_PER_CLOCK = 16;

  /** Functions of special-function units; a GPU makes the others of them, or of multiply-adds. */
  private static final Set<MathOp> SPECIALS =
      EnumSet.of(
          MathOp.EXP,
          MathOp.EXP2,
          MathOp.LOG,
          MathOp.SQRT,
          MathOp.RSQRT,
          MathOp.SIN,
          MathOp.COS,
          MathOp.TANH,
          MathOp.ERF,
          MathOp.POW);

  /**
   * Of a network.
   *
   * @param device null if nothing is known of it
   */
  public static NetworkBounds of(
      Graph graph, Precision precision, int rows, @Nullable DeviceModel device) {
    double flops = 0;
    double specials = 0;
    double elements = 0;
    Set<ConstantTensor> constants = new HashSet<>();
    for (Node node : graph.needed()) {
      constants.addAll(node.constants());
      if (node instanceof Linear linear) {
        flops += 2.0 * rows * linear.input().features() * linear.output().features();
      } else if (node instanceof Elementwise e) {
        specials += (double) rows * e.output().features() * specials(e.kind());
      }
    }
    for (Value input : graph.inputs()) {
      elements += (double) rows * input.features();
    }
    InputUpdates updates = new InputUpdates(graph);
    for (Value output : graph.outputs()) {
      InputUpdates.Update update = updates.of(output);
      elements += (double) rows * (update == null ? output : update.added()).features();
    }
    for (ConstantTensor constant : constants) {
      elements += constant.count();
    }
    double bytes = elements * precision.operand().bytes();
    return new NetworkBounds(
        flops,
        bytes,
        specials,
        device == null ? Double.NaN : bytes / device.dramGBs() / 1e3,
        device == null ? Double.NaN : flops / tflops(device, precision) / 1e6,
        device == null
            ? Double.NaN
            : specials / (SPECIALS_PER_CLOCK * device.sms() * device.boostMhz()));
  }

  /**
   * The least that an element takes: what its formula calls twice is computed once, and divisions
   * may be part of another function, as in a sigmoid by tanh.
   */
  private static int specials(Pointwise kind) {
    List<Expr> operands =
        Stream.of("a", "b", "c")
            .limit(kind.arity())
            .<Expr>map(name -> new Var(name, Type.F32))
            .toList();
    Set<Expr> calls = new HashSet<>();
    Walk.expressions(
        kind.formula(operands),
        e -> {
          if (e instanceof Expr.Call(MathOp op, var _, var _) && SPECIALS.contains(op)) {
            calls.add(e);
          }
        });
    return calls.size();
  }

  private static double tflops(DeviceModel device, Precision precision) {
    double rate =
        switch (precision) {
          case TF32 -> device.tf32Tflops();
          case F16, F16_ACCUMULATORS -> device.f16Tflops();
          case BF16 -> device.bf16Tflops();
          case F32, F64, E4M3, E5M2, INT8, UINT8 -> device.fp32Tflops();
        };
    return rate > 0 ? rate : Double.NaN;
  }

  /** The longest of them. */
  public double micros() {
    return Math.max(bytesUs, Math.max(productsUs, specialUs));
  }

  public boolean isKnown() {
    return !Double.isNaN(micros());
  }

  /** Which it is. */
  public String by() {
    double longest = micros();
    return longest == bytesUs ? "bytes" : longest == productsUs ? "products" : "special functions";
  }

  /** As {@code bound 59.9 us (bytes 59.9, products 34.8, special functions 0.0)}. */
  public String text() {
    return isKnown()
        ? String.format(
            Locale.ROOT,
            "bound %.2f us (bytes %.2f, multiply-adds %.2f, special functions %.2f)",
            micros(),
            bytesUs,
            productsUs,
            specialUs)
        : "no bound is known for this device";
  }
}
