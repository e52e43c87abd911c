package dev.warpwright.model.graph;

import dev.warpwright.ir.type.DType;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A matrix [rows, features] that flows through a graph. Two values are the same only if they are
 * the same object; the name is for people and need not be a valid identifier in any language.
 */
public final class Value {
  private final String name;
  private final DType dtype;
  private final int features;
  private final List<Dim> leading;
  private final List<Long> trailing;

  /**
   * A value of which the last dimension in the original file are the features.
   *
   * @param name as in the original file; names need not be unique
   * @param dtype in which the file has it
   * @param features the size of the last dimension, at least 1
   * @param leading the dimensions before the last in the original file; none for a single row
   */
  public Value(String name, DType dtype, int features, List<Dim> leading) {
    this(name, dtype, features, leading, List.of((long) features));
  }

  /**
   * A value.
   *
   * @param name as in the original file; names need not be unique
   * @param dtype in which the file has it
   * @param features the number of columns, at least 1
   * @param leading the dimensions in the original file that are the rows; none for a single row
   * @param trailing the dimensions behind them, which are the features; their product is {@code
   *     features}
   */
  public Value(String name, DType dtype, int features, List<Dim> leading, List<Long> trailing) {
    if (features < 1) {
      throw new IllegalArgumentException("a value needs at least one feature, not " + features);
    }
    if (!dtype.isFloat()) {
      throw new IllegalArgumentException("a value must be floating point, not " + dtype);
    }
    if (ConstantTensor.elementCount(trailing) != features) {
      throw new IllegalArgumentException(trailing + " are not " + features + " features");
    }
    this.name = name;
    this.dtype = dtype;
    this.features = features;
    this.leading = List.copyOf(leading);
    this.trailing = List.copyOf(trailing);
  }

  /** {@return the name in the original file} */
  public String name() {
    return name;
  }

  /** {@return the type in which the file has it; kernels may compute in another} */
  public DType dtype() {
    return dtype;
  }

  /** {@return the number of columns} */
  public int features() {
    return features;
  }

  /** {@return the original dimensions that are the rows; the number of rows is their product} */
  public List<Dim> leading() {
    return leading;
  }

  /**
   * {@return the original dimensions that are the features: usually one, none for a value for each
   * row}
   */
  public List<Long> trailing() {
    return trailing;
  }

  /** {@return type and shape for messages, for example {@code f32[batch, 64]}} */
  public String typeText() {
    return Stream.concat(leading.stream(), trailing.stream())
        .map(Object::toString)
        .collect(Collectors.joining(", ", dtype.text() + "[", "]"));
  }

  @Override
  public String toString() {
    return name + ": " + typeText();
  }
}
