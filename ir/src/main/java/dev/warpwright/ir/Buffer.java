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
   * @param name an identifier; two buffers of one name are still two
   * @param dtype of each element
   * @param shape extents in elements; empty for a scalar cell
   * @param scope of memory
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

  /**
   * {@return a row-major buffer aligned to 16 bytes}
   *
   * @param name an identifier
   * @param dtype of each element
   * @param scope of memory
   * @param shape extents in elements; empty for a scalar cell
   */
  public static Buffer of(String name, DType dtype, Scope scope, List<? extends Expr> shape) {
    return new Buffer(name, dtype, shape, scope, null, 16);
  }

  /**
   * {@return a row-major buffer of constant shape, aligned to 16 bytes}
   *
   * @param name an identifier
   * @param dtype of each element
   * @param scope of memory
   * @param shape extents in elements; none for a scalar cell
   */
  public static Buffer of(String name, DType dtype, Scope scope, long... shape) {
    return of(name, dtype, scope, java.util.Arrays.stream(shape).mapToObj(Exprs::i32).toList());
  }

  @Override
  public String name() {
    return name;
  }

  /** {@return the type of each element} */
  public DType dtype() {
    return dtype;
  }

  /** {@return the extents in elements, outermost first} */
  public List<Expr> shape() {
    return shape;
  }

  /** {@return the number of dimensions} */
  public int rank() {
    return shape.size();
  }

  /** {@return the memory that it lies in} */
  public Scope scope() {
    return scope;
  }

  /** {@return what makes offsets of coordinates; null for row-major without gaps} */
  public @Nullable Layout layout() {
    return layout;
  }

  /** {@return alignment of the first element in bytes} */
  public int alignment() {
    return alignment;
  }

  /**
   * {@return constant extent of a dimension}
   *
   * @param dimension from 0, the outermost
   * @throws IllegalStateException if that extent is symbolic
   */
  public long extent(int dimension) {
    if (shape.get(dimension) instanceof Expr.IntImm imm) {
      return imm.value();
    }
    throw new IllegalStateException(
        "extent " + dimension + " of " + name + " is symbolic: " + shape);
  }

  /** {@return whether every extent is a constant} */
  public boolean hasConstantShape() {
    return shape.stream().allMatch(Expr.IntImm.class::isInstance);
  }

  /**
   * {@return elements that the storage spans, gaps of the layout included}
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

  /**
   * {@return a new buffer like this one in other memory}
   *
   * @param newScope of memory
   */
  public Buffer withScope(Scope newScope) {
    return new Buffer(name, dtype, shape, newScope, layout, alignment);
  }

  /**
   * {@return a new buffer like this one, its elements in other places}
   *
   * @param newLayout null for row-major
   */
  public Buffer withLayout(@Nullable Layout newLayout) {
    return new Buffer(name, dtype, shape, scope, newLayout, alignment);
  }

  /**
   * {@return a new row-major buffer like this one of another shape}
   *
   * @param newShape extents in elements
   */
  public Buffer withShape(List<? extends Expr> newShape) {
    return new Buffer(name, dtype, newShape, scope, null, alignment);
  }

  /**
   * {@return a new buffer like this one under another name}
   *
   * @param newName an identifier
   */
  public Buffer withName(String newName) {
    return new Buffer(newName, dtype, shape, scope, layout, alignment);
  }

  @Override
  public String toString() {
    return name + ": " + dtype + shape + " " + scope;
  }
}
