package dev.warpwright.workload;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * What follows a product: {@code f(alpha · rowScale[i] · columnScale[j] · sum + beta · R[i, j] +
 * bias[j]) · G[i, j] + S[i, j]}, computed in f32 (in f64 behind sums in f64) and rounded once.
 *
 * @param alpha factor of the product
 * @param beta factor of the matrix {@code R}, which has the shape and type of the result; 0 for
 *     none
 * @param bias whether a value for each column, {@code bias: f32[N]}, is added
 * @param activation the function f
 * @param rowScale whether there is a factor for each row, {@code rowScale: f32[M]}
 * @param columnScale whether there is a factor for each column, {@code columnScale: f32[N]}
 * @param gate whether the matrix {@code G}, of the shape and type of the result, is multiplied with
 * @param residual whether the matrix {@code S}, of the shape and type of the result, is added
 */
public record Epilogue(
    double alpha,
    double beta,
    boolean bias,
    Activation activation,
    boolean rowScale,
    boolean columnScale,
    boolean gate,
    boolean residual) {
  /** The sum itself. */
  public static final Epilogue NONE = new Epilogue(1, 0, false, Activation.NONE);

  private static final int NUMBERED = 4;

  /** What an epilogue reads beside the sum. */
  public enum Operand {
    ROW_SCALE("rowScale"),
    COLUMN_SCALE("columnScale"),
    BIAS("bias"),
    ADDEND("R"),
    GATE("G"),
    RESIDUAL("S");

    private final String buffer;

    Operand(String buffer) {
      this.buffer = buffer;
    }

    /** Name of its buffer. */
    public String buffer() {
      return buffer;
    }

    /** Whether it has a value for each element of the result, of the result's type. */
    public boolean isMatrix() {
      return switch (this) {
        case ROW_SCALE, COLUMN_SCALE, BIAS -> false;
        case ADDEND, GATE, RESIDUAL -> true;
      };
    }
  }

  /** Without scales, gate and residual. */
  public Epilogue(double alpha, double beta, boolean bias, Activation activation) {
    this(alpha, beta, bias, activation, false, false, false, false);
  }

  /** What it reads, in the order of parameters. */
  public List<Operand> operands() {
    return Arrays.stream(Operand.values())
        .filter(
            operand ->
                switch (operand) {
                  case ROW_SCALE -> rowScale;
                  case COLUMN_SCALE -> columnScale;
                  case BIAS -> bias;
                  case ADDEND -> beta != 0;
                  case GATE -> gate;
                  case RESIDUAL -> residual;
                })
        .toList();
  }

  /**
   * The formula.
   *
   * @param type that it is computed in
   * @param at the element of an operand that belongs to the sum
   */
  public Expr of(DType type, Expr sum, Function<Operand, Expr> at) {
    Function<Operand, Expr> operand = o -> Exprs.cast(type, at.apply(o));
    Expr value = Exprs.cast(type, sum);
    if (alpha != 1) {
      value = Exprs.mul(value, Exprs.constant(Type.of(type), alpha));
    }
    if (rowScale) {
      value = Exprs.mul(value, operand.apply(Operand.ROW_SCALE));
    }
    if (columnScale) {
      value = Exprs.mul(value, operand.apply(Operand.COLUMN_SCALE));
    }
    if (beta != 0) {
      Expr factor = Exprs.constant(Type.of(type), beta);
      value = Exprs.fma(factor, operand.apply(Operand.ADDEND), value);
    }
    if (bias) {
      value = Exprs.add(value, operand.apply(Operand.BIAS));
    }
    value = activation.of(value);
    if (gate) {
      value = Exprs.mul(value, operand.apply(Operand.GATE));
    }
    return residual ? Exprs.add(value, operand.apply(Operand.RESIDUAL)) : value;
  }

  /** The text form: {@code none}, or {@code alpha:1.0,beta:0.0,bias:true,relu,gate}. */
  public String text() {
    if (equals(NONE)) {
      return "none";
    }
    List<String> parts =
        new ArrayList<>(
            List.of("alpha:" + alpha, "beta:" + beta, "bias:" + bias, activation.text()));
    for (Operand operand : operands()) {
      switch (operand) {
        case ROW_SCALE -> parts.add("rows");
        case COLUMN_SCALE -> parts.add("columns");
        case GATE -> parts.add("gate");
        case RESIDUAL -> parts.add("residual");
        case BIAS, ADDEND -> {}
      }
    }
    return String.join(",", parts);
  }

  /**
   * Reads the text form.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static Epilogue parse(String text) {
    if (text.equals("none")) {
      return NONE;
    }
    List<String> parts = List.of(text.split(","));
    if (parts.size() < NUMBERED) {
      throw new IllegalArgumentException("\"" + text + "\" is no epilogue");
    }
    List<String> rest = parts.subList(NUMBERED, parts.size());
    Epilogue epilogue =
        new Epilogue(
            Double.parseDouble(parts.get(0).substring("alpha:".length())),
            Double.parseDouble(parts.get(1).substring("beta:".length())),
            Boolean.parseBoolean(parts.get(2).substring("bias:".length())),
            Activation.valueOf(parts.get(3).toUpperCase(Locale.ROOT)),
            rest.contains("rows"),
            rest.contains("columns"),
            rest.contains("gate"),
            rest.contains("residual"));
    if (!epilogue.text().equals(text)) {
      throw new IllegalArgumentException("\"" + text + "\" is no epilogue");
    }
    return epilogue;
  }
}
