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
 * @param norm ε, if every sum is divided by the root of the mean square of its row of A, {@code
 *     √(Σₖ A[i, k]² / K + ε)}, before all else: an RMS norm of A whose factors are in B; negative
 *     if not
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
    boolean glu,
    double norm) {
  /** Of sums that are taken as they are. */
  private static final double PLAIN = -1;

  /** The sum itself. */
  public static final Epilogue NONE = new Epilogue(1, 0, false, Activation.NONE);

  /** Columns of the gate of a gated linear unit that follow each other. */
  public static final int GLU_GROUP = 8;

  private static final int NUMBERED = 4;
  private static final String NORM = "norm:";

  /** What an epilogue reads beside the sum. */
  public enum Operand {
    /** A factor for each row of the result. */
    ROW_SCALE("rowScale"),
    /** A factor for each column of the result. */
    COLUMN_SCALE("columnScale"),
    /** A summand for each column. */
    BIAS("bias"),
    /** A matrix that is added, times beta, before the activation. */
    ADDEND("R"),
    /** A matrix that the activation's result is multiplied with. */
    GATE("G"),
    /** A matrix that is added last. */
    RESIDUAL("S");

    private final String buffer;

    Operand(String buffer) {
      this.buffer = buffer;
    }

    /** {@return name of its buffer} */
    public String buffer() {
      return buffer;
    }

    /** {@return whether it has a value for each element of the result, of the result's type} */
    public boolean isMatrix() {
      return switch (this) {
        case ROW_SCALE, COLUMN_SCALE, BIAS -> false;
        case ADDEND, GATE, RESIDUAL -> true;
      };
    }
  }

  /** Checks that a gated linear unit has no matrices beside its own. */
  public Epilogue {
    norm = norm >= 0 ? norm : PLAIN;
    if (glu && (beta != 0 || gate)) {
      throw new IllegalArgumentException(
          "a gated linear unit has no matrices R and G: its gate is half of the accumulators");
    }
  }

  /**
   * An epilogue without scales, gate and residual.
   *
   * @param alpha factor of the sums
   * @param beta factor of the added matrix; 0 for none
   * @param bias whether a value for each column is added
   * @param activation applied to what then is there
   */
  public Epilogue(double alpha, double beta, boolean bias, Activation activation) {
    this(alpha, beta, bias, activation, false, false, false, false);
  }

  /**
   * An epilogue of every column of the product.
   *
   * @param alpha factor of the sums
   * @param beta factor of the added matrix; 0 for none
   * @param bias whether a value for each column is added
   * @param activation applied to what then is there
   * @param rowScale whether each row has a factor
   * @param columnScale whether each column has a factor
   * @param gate whether a matrix multiplies the activation's result
   * @param residual whether a matrix is added last
   */
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
   * An epilogue of sums that are taken as they are.
   *
   * @param alpha factor of the sums
   * @param beta factor of the added matrix; 0 for none
   * @param bias whether a value for each column is added
   * @param activation applied to what then is there
   * @param rowScale whether each row has a factor
   * @param columnScale whether each column has a factor
   * @param gate whether a matrix multiplies the activation's result
   * @param residual whether a matrix is added last
   * @param glu whether it is a gated linear unit
   */
  public Epilogue(
      double alpha,
      double beta,
      boolean bias,
      Activation activation,
      boolean rowScale,
      boolean columnScale,
      boolean gate,
      boolean residual,
      boolean glu) {
    this(alpha, beta, bias, activation, rowScale, columnScale, gate, residual, glu, PLAIN);
  }

  /**
   * {@return the same of sums whose rows of A are normed}
   *
   * @param epsilon what is added to the mean of a row's squares, 0 or more
   */
  public Epilogue normed(double epsilon) {
    return new Epilogue(
        alpha, beta, bias, activation, rowScale, columnScale, gate, residual, glu, epsilon);
  }

  /** {@return the same of sums that are taken as they are} */
  public Epilogue unnormed() {
    return normed(PLAIN);
  }

  /** {@return whether rows of A are normed} */
  public boolean isNormed() {
    return norm >= 0;
  }

  /**
   * {@return a gated linear unit}
   *
   * @param bias whether a value for each column of the product is added
   * @param activation of the gate
   */
  public static Epilogue glu(boolean bias, Activation activation) {
    return new Epilogue(1, 0, bias, activation, false, false, false, false, true);
  }

  /**
   * {@return columns of the result of a product of so many columns}
   *
   * @param product columns of the product
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

  /**
   * {@return the product's column of the gate for a column of the result of a gated linear unit}
   *
   * @param column of the result
   */
  public static long gateColumn(long column) {
    return column / GLU_GROUP * (2 * GLU_GROUP) + column % GLU_GROUP;
  }

  /**
   * {@return the same in the IR} What the gate lets through is {@link #GLU_GROUP} columns further.
   *
   * @param column of the result
   */
  public static Expr gateColumn(Expr column) {
    return Exprs.add(
        Exprs.mul(Exprs.div(column, GLU_GROUP), 2 * GLU_GROUP), Exprs.mod(column, GLU_GROUP));
  }

  /** {@return what it reads, in the order of parameters} */
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
   * {@return the formula}
   *
   * @param type that it is computed in
   * @param sum the accumulator
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
   * {@return the formula of a gated linear unit}
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

  /** {@return what a gated linear unit makes of the sum of its gate, by itself} */
  public Epilogue gatePart() {
    return new Epilogue(alpha, 0, bias, activation, rowScale, columnScale, false, false);
  }

  /** {@return what a gated linear unit makes of the other sum before the two are multiplied} */
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

  /** {@return the text form: {@code none}, or {@code alpha:1.0,beta:0.0,bias:true,relu,gate}} */
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
    if (isNormed()) {
      parts.add(NORM + norm);
    }
    return String.join(",", parts);
  }

  /**
   * Reads the text form.
   *
   * @param text as {@link #text()} gives it
   * @return the epilogue
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
            rest.contains("glu"),
            parts.getLast().startsWith(NORM)
                ? Double.parseDouble(parts.getLast().substring(NORM.length()))
                : PLAIN);
    if (!epilogue.text().equals(text)) {
      throw new IllegalArgumentException("\"" + text + "\" is no epilogue");
    }
    return epilogue;
  }
}
