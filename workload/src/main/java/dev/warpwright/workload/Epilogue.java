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
 * <p>A gated linear unit (SwiGLU, GeGLU, ReGLU) has half as many columns as the product, whose
 * columns take turns, {@value #GLU_GROUP} of the gate, then {@value #GLU_GROUP} of what it lets
 * through: {@code f(gate) · up}, where both are {@code alpha · rowScale[i] · columnScale[j] · sum +
 * bias[j]} at their own columns. So every fragment of a matrix instruction holds both in one
 * thread, whether the columns are the instruction's columns or, with swapped operands, its rows.
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
 * @param glu whether it is a gated linear unit
 */
public record Epilogue(
    double alpha,
    double beta,
    boolean bias,
    Activation activation,
    boolean rowScale,
    boolean columnScale,
    boolean gate,
    boolean residual,
    boolean glu) {
  /** The sum itself. */
  public static final Epilogue NONE = new Epilogue(1, 0, false, Activation.NONE);

  /** Columns of the gate of a gated linear unit that follow each other. */
  public static final int GLU_GROUP = 8;

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

  public Epilogue {
    if (glu && (beta != 0 || gate)) {
      throw new IllegalArgumentException(
          "a gated linear unit has no matrices R and G: its gate is half of the accumulators");
    }
  }

  /** Without scales, gate and residual. */
  public Epilogue(double alpha, double beta, boolean bias, Activation activation) {
    this(alpha, beta, bias, activation, false, false, false, false);
  }

  /** Of every column of the product. */
  public Epilogue(
      double alpha,
      double beta,
      boolean bias,
      Activation activation,
      boolean rowScale,
      boolean columnScale,
      boolean gate,
      boolean residual) {
    this(alpha, beta, bias, activation, rowScale, columnScale, gate, residual, false);
  }

  /**
   * A gated linear unit.
   *
   * @param bias whether a value for each column of the product is added
   */
  public static Epilogue glu(boolean bias, Activation activation) {
    return new Epilogue(1, 0, bias, activation, false, false, false, false, true);
  }

  /**
   * Columns of the result of a product of so many columns.
   *
   * @throws IllegalArgumentException if a gated linear unit has other columns than whole groups
   */
  public long columns(long product) {
    if (glu && product % (2 * GLU_GROUP) != 0) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "%d columns of a gated linear unit, not a multiple of %d",
              product,
              2 * GLU_GROUP));
    }
    return glu ? product / 2 : product;
  }

  /** The product's column of the gate for a column of the result of a gated linear unit. */
  public static long gateColumn(long column) {
    return column / GLU_GROUP * (2 * GLU_GROUP) + column % GLU_GROUP;
  }

  /** The same in the IR. What the gate lets through is {@link #GLU_GROUP} columns further. */
  public static Expr gateColumn(Expr column) {
    return Exprs.add(
        Exprs.mul(Exprs.div(column, GLU_GROUP), 2 * GLU_GROUP), Exprs.mod(column, GLU_GROUP));
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
    if (glu) {
      throw new IllegalStateException("a gated linear unit is made of two sums");
    }
    Function<Operand, Expr> operand = o -> Exprs.cast(type, at.apply(o));
    Expr value = activation.of(linear(type, sum, operand));
    if (gate) {
      value = Exprs.mul(value, operand.apply(Operand.GATE));
    }
    return residual ? Exprs.add(value, operand.apply(Operand.RESIDUAL)) : value;
  }

  /**
   * The formula of a gated linear unit.
   *
   * @param type that it is computed in
   * @param sum of the gate
   * @param at the element of an operand that belongs to that sum, or to the result
   * @param upSum of what the gate lets through
   * @param upAt the element of an operand that belongs to that sum
   */
  public Expr glu(
      DType type, Expr sum, Function<Operand, Expr> at, Expr upSum, Function<Operand, Expr> upAt) {
    if (!glu) {
      throw new IllegalStateException("no gated linear unit");
    }
    Function<Operand, Expr> operand = o -> Exprs.cast(type, at.apply(o));
    Expr value =
        Exprs.mul(
            activation.of(linear(type, sum, operand)),
            linear(type, upSum, o -> Exprs.cast(type, upAt.apply(o))));
    return residual ? Exprs.add(value, operand.apply(Operand.RESIDUAL)) : value;
  }

  /** What a gated linear unit makes of the sum of its gate, by itself. */
  public Epilogue gatePart() {
    return new Epilogue(alpha, 0, bias, activation, rowScale, columnScale, false, false);
  }

  /** What a gated linear unit makes of the other sum before the two are multiplied. */
  public Epilogue upPart() {
    return new Epilogue(alpha, 0, bias, Activation.NONE, rowScale, columnScale, false, false);
  }

  /** What the activation is given. */
  private Expr linear(DType type, Expr sum, Function<Operand, Expr> operand) {
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
    return bias ? Exprs.add(value, operand.apply(Operand.BIAS)) : value;
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
    if (glu) {
      parts.add("glu");
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
            rest.contains("residual"),
            rest.contains("glu"));
    if (!epilogue.text().equals(text)) {
      throw new IllegalArgumentException("\"" + text + "\" is no epilogue");
    }
    return epilogue;
  }
}
