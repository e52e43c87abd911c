package dev.warpwright.model.graph;

import dev.warpwright.ir.DType;
import java.util.List;

/**
 * A matrix [rows, features] that flows through a graph. Two values are the same only if they are
 * the same object; the name is for people and need not be a valid identifier in any language.
 */
public final class Value {
  private final String name;
  private final DType dtype;
  private final int features;
  private final List<Dim> leading;

  /**
   * A value.
   *
   * @param features the size of the last dimension, at least 1
   * @param leading the dimensions before the last in the original file; none for a single row
   */
  public Value(String name, DType dtype, int features, List<Dim> leading) {
    if (features < 1) {
      throw new IllegalArgumentException("a value needs at least one feature, not " + features);
    }
    if (!dtype.isFloat()) {
      throw new IllegalArgumentException("a value must be floating point, not " + dtype);
    }
    this.name = name;
    this.dtype = dtype;
    this.features = features;
    this.leading = List.copyOf(leading);
  }

  /** The name in the original file. */
  public String name() {
    return name;
  }

  public DType dtype() {
    return dtype;
  }

  /** The number of columns: the size of the last dimension. */
  public int features() {
    return features;
  }

  /** The original dimensions before the last; the number of rows is their product. */
  public List<Dim> leading() {
    return leading;
  }

  /** For example {@code f32[batch, 64]}. */
  public String typeText() {
    StringBuilder out = new StringBuilder(dtype.text()).append('[');
    leading.forEach(dim -> out.append(dim).append(", "));
    return out.append(features).append(']').toString();
  }

  @Override
  public String toString() {
    return name + ": " + typeText();
  }
}
