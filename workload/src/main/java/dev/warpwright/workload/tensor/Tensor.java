package dev.warpwright.workload.tensor;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A tensor of an expression: an input, or elements defined by a formula over other tensors. Making
 * one computes nothing; {@link PrimFuncs#of} turns a set of outputs into a {@link
 * dev.warpwright.ir.PrimFunc}, one block for each formula.
 */
public final class Tensor {
  private final Buffer buffer;
  private final @Nullable Definition definition;

  /**
   * How the elements come about.
   *
   * @param spatial one variable for each dimension
   * @param reduce the variables summed over; empty for an elementwise formula
   * @param init value before the reduction, null without one
   * @param value the element, or for a reduction the next partial result, in which a load of the
   *     tensor itself at {@code spatial} is the last one
   */
  record Definition(List<IterVar> spatial, List<IterVar> reduce, @Nullable Expr init, Expr value) {}

  private Tensor(Buffer buffer, @Nullable Definition definition) {
    this.buffer = buffer;
    this.definition = definition;
  }

  /**
   * {@return a tensor given by the caller} Only the first extent may be symbolic.
   *
   * @param name an identifier
   * @param dtype of each element
   * @param shape extents, outermost first
   */
  public static Tensor input(String name, DType dtype, Expr... shape) {
    return new Tensor(Buffer.of(name, dtype, Scope.GLOBAL, Arrays.asList(shape)), null);
  }

  /**
   * {@return a tensor given by the caller, in a buffer with its own layout}
   *
   * @param buffer in global memory
   */
  public static Tensor input(Buffer buffer) {
    return new Tensor(buffer, null);
  }

  /**
   * {@return a tensor whose elements are a formula of their indices}
   *
   * @param name an identifier
   * @param dtype that results are cast to
   * @param shape extents, outermost first
   * @param formula of an element, by its indices
   */
  public static Tensor compute(
      String name, DType dtype, List<Expr> shape, Function<List<Var>, Expr> formula) {
    List<IterVar> spatial = iterVars("v", shape, IterVar.Kind.SPATIAL);
    Expr value = Exprs.cast(dtype, formula.apply(vars(spatial)));
    Buffer buffer = Buffer.of(name, dtype, Scope.GLOBAL, shape);
    return new Tensor(buffer, new Definition(spatial, List.of(), null, value));
  }

  /**
   * {@return the same in a buffer with its own layout, whose type results are cast to}
   *
   * @param buffer for the elements
   * @param formula of an element, by its indices
   */
  public static Tensor compute(Buffer buffer, Function<List<Var>, Expr> formula) {
    List<IterVar> spatial = iterVars("v", buffer.shape(), IterVar.Kind.SPATIAL);
    Expr value = Exprs.cast(buffer.dtype(), formula.apply(vars(spatial)));
    return new Tensor(buffer, new Definition(spatial, List.of(), null, value));
  }

  /** The next partial result of a reduction. */
  @FunctionalInterface
  public interface Step {
    /**
     * {@return the partial result after one more step}
     *
     * @param spatial indices of the element
     * @param reduce indices that are reduced over
     * @param last the partial result so far
     */
    Expr next(List<Var> spatial, List<Var> reduce, Expr last);
  }

  /**
   * {@return a tensor whose elements are reductions from {@code init}, in ascending order of the
   * reduce variables}
   *
   * @param name an identifier
   * @param dtype of each element and of partial results
   * @param shape extents, outermost first
   * @param over extents of what is reduced over
   * @param init partial result before the first step
   * @param step makes the next partial result
   */
  public static Tensor reduce(
      String name, DType dtype, List<Expr> shape, List<Expr> over, Expr init, Step step) {
    List<IterVar> spatial = iterVars("v", shape, IterVar.Kind.SPATIAL);
    List<IterVar> reduce = iterVars("r", over, IterVar.Kind.REDUCE);
    Buffer buffer = Buffer.of(name, dtype, Scope.GLOBAL, shape);
    Expr last = new Expr.Load(buffer, List.copyOf(vars(spatial)));
    Expr value = step.next(vars(spatial), vars(reduce), last);
    return new Tensor(
        buffer, new Definition(spatial, reduce, Exprs.cast(dtype, init), Exprs.cast(dtype, value)));
  }

  private static List<IterVar> iterVars(String prefix, List<Expr> extents, IterVar.Kind kind) {
    List<IterVar> result = new ArrayList<>();
    for (int i = 0; i < extents.size(); i++) {
      Var var = Var.index(prefix + i);
      // The binding is replaced by a loop variable when the function is made.
      result.add(new IterVar(var, extents.get(i), kind, var));
    }
    return result;
  }

  private static List<Var> vars(List<IterVar> iterVars) {
    return iterVars.stream().map(IterVar::var).toList();
  }

  /** {@return the name of its buffer} */
  public String name() {
    return buffer.name();
  }

  /** {@return the buffer with its elements} */
  public Buffer buffer() {
    return buffer;
  }

  /** {@return the type of each element} */
  public DType dtype() {
    return buffer.dtype();
  }

  /** {@return the extents, outermost first} */
  public List<Expr> shape() {
    return buffer.shape();
  }

  /**
   * {@return the element at these indices}
   *
   * @param indices one for each dimension
   */
  public Expr at(Expr... indices) {
    return new Expr.Load(buffer, List.of(indices));
  }

  /**
   * {@return the element at these indices, widened to f32 if it is a narrower float}
   *
   * @param indices one for each dimension
   */
  public Expr f32At(Expr... indices) {
    Expr element = at(indices);
    return dtype().isFloat() && dtype().bits() < 32 ? Exprs.cast(DType.F32, element) : element;
  }

  @Nullable Definition definition() {
    return definition;
  }

  @Override
  public String toString() {
    return buffer.toString();
  }
}
