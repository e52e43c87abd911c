package dev.warpwright.ir;

import dev.warpwright.ir.type.DType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A multi-dimensional array. Two buffers are the same only if they are the same object.
 *
 * <p>Only the outermost extent of a global buffer may be symbolic. Without a layout the elements
 * lie row-major without gaps; a layout maps coordinates to another element offset.
 */
public final class Buffer implements Param {
  private final String name;
  private final DType dtype;
  private final List<Expr> shape;
  private final Scope scope;
  private final @Nullable Layout layout;
  private final int alignment;

  /**
   * Makes a buffer.
   *
   * @param shape extents in elements; empty for a scalar cell
   * @param layout coordinates to element offset, or null for row-major
   * @param alignment of the first element in bytes, a power of two, at least the element's size
   */
  public Buffer(
      String name,
      DType dtype,
      List<? extends Expr> shape,
      Scope scope,
      @Nullable Layout layout,
      int alignment) {
    if (Integer.bitCount(alignment) != 1 || alignment < dtype.bytes()) {
      throw new IllegalArgumentException(
          "alignment of "
              + name
              + " must be a power of two of at least "
              + dtype.bytes()
              + ", not "
              + alignment);
    }
    if (layout != null && layout.rank() != shape.size()) {
      throw new IllegalArgumentException(
          "layout of " + name + " has rank " + layout.rank() + ", its shape " + shape.size());
    }
    this.name = name;
    this.dtype = dtype;
    this.shape = List.copyOf(shape);
    this.scope = scope;
    this.layout = layout;
    this.alignment = alignment;
  }

  /** A row-major buffer aligned to 16 bytes. */
  public static Buffer of(String name, DType dtype, Scope scope, List<? extends Expr> shape) {
    return new Buffer(name, dtype, shape, scope, null, 16);
  }

  /** A row-major buffer of constant shape, aligned to 16 bytes. */
  public static Buffer of(String name, DType dtype, Scope scope, long... shape) {
    return of(name, dtype, scope, java.util.Arrays.stream(shape).mapToObj(Exprs::i32).toList());
  }

  @Override
  public String name() {
    return name;
  }

  public DType dtype() {
    return dtype;
  }

  public List<Expr> shape() {
    return shape;
  }

  public int rank() {
    return shape.size();
  }

  public Scope scope() {
    return scope;
  }

  public @Nullable Layout layout() {
    return layout;
  }

  /** Alignment of the first element in bytes. */
  public int alignment() {
    return alignment;
  }

  /**
   * Constant extent of a dimension.
   *
   * @throws IllegalStateException if that extent is symbolic
   */
  public long extent(int dimension) {
    if (shape.get(dimension) instanceof Expr.IntImm imm) {
      return imm.value();
    }
    throw new IllegalStateException(
        "extent " + dimension + " of " + name + " is symbolic: " + shape);
  }

  /** Whether every extent is a constant. */
  public boolean hasConstantShape() {
    return shape.stream().allMatch(Expr.IntImm.class::isInstance);
  }

  /**
   * Elements that the storage spans, gaps of the layout included.
   *
   * @throws IllegalStateException if the shape is symbolic
   */
  public long storageElements() {
    if (layout != null) {
      return layout.cosize();
    }
    long count = 1;
    for (int i = 0; i < shape.size(); i++) {
      count = Math.multiplyExact(count, extent(i));
    }
    return count;
  }

  public Buffer withScope(Scope newScope) {
    return new Buffer(name, dtype, shape, newScope, layout, alignment);
  }

  public Buffer withLayout(@Nullable Layout newLayout) {
    return new Buffer(name, dtype, shape, scope, newLayout, alignment);
  }

  public Buffer withShape(List<? extends Expr> newShape) {
    return new Buffer(name, dtype, newShape, scope, null, alignment);
  }

  public Buffer withName(String newName) {
    return new Buffer(newName, dtype, shape, scope, layout, alignment);
  }

  @Override
  public String toString() {
    return name + ": " + dtype + shape + " " + scope;
  }
}
