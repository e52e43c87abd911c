package dev.warpwright.model.build;

import dev.warpwright.base.Names;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Value;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a name stands for during import. */
public sealed interface Term {

  /** The type and shape for messages, for example {@code f32[batch, 64]}. */
  String typeText();

  /**
   * A tensor that the network computes.
   *
   * @param value its elements, as rows of features
   * @param outer the dimensions that are rows
   * @param inner the dimensions behind them that are features; their product is the number of
   *     features
   * @param dtype the type that the file gives it; truth and whole numbers are values too
   */
  record Computed(Value value, List<Dim> outer, List<Long> inner, DType dtype) implements Term {
    public Computed {
      outer = List.copyOf(outer);
      inner = List.copyOf(inner);
      if (ConstantTensor.elementCount(inner) != value.features()) {
        throw new IllegalArgumentException(inner + " are not the features of " + value);
      }
    }

    /** The number of dimensions. */
    public int rank() {
      return outer.size() + inner.size();
    }

    /** All dimensions. */
    public List<Dim> dims() {
      return Stream.concat(outer.stream(), inner.stream().map(Dim.Fixed::new)).toList();
    }

    /** The same elements under other dimensions. */
    public Computed withDims(List<Dim> newOuter, List<Long> newInner) {
      return new Computed(value, newOuter, newInner, dtype);
    }

    @Override
    public String typeText() {
      String dims = dims().stream().map(Object::toString).collect(Collectors.joining(", "));
      return Names.printable(dtype.text() + "[" + dims + "]");
    }
  }

  /** A tensor that the file holds, or that follows from such. */
  record Constant(ConstantTensor tensor) implements Term {
    @Override
    public String typeText() {
      return tensor.typeText();
    }
  }

  /**
   * Sizes of dimensions, of which some are known only at run time.
   *
   * @param scalar whether it is one number, not a list of one
   */
  record Sizes(List<Size> sizes, boolean scalar) implements Term {
    public Sizes {
      sizes = List.copyOf(sizes);
      if (scalar && sizes.size() != 1) {
        throw new IllegalArgumentException(sizes + " is not one number");
      }
    }

    @Override
    public String typeText() {
      return "i64" + (scalar ? "[]" : "[" + sizes.size() + "]");
    }
  }
}
