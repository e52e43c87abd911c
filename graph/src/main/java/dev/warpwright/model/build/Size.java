package dev.warpwright.model.build;

import dev.warpwright.model.graph.Dim;

/** A whole number that a model computes with: known, or the size of a dynamic dimension. */
public sealed interface Size {
  /** A number. */
  record Known(long value) implements Size {
    @Override
    public String toString() {
      return Long.toString(value);
    }
  }

  /** The size of a dimension that is known only at run time. */
  record Unknown(Dim.Symbolic dim) implements Size {
    @Override
    public String toString() {
      return dim.toString();
    }
  }

  /** The size of a dimension. */
  static Size of(Dim dim) {
    return switch (dim) {
      case Dim.Fixed(long size) -> new Known(size);
      case Dim.Symbolic symbolic -> new Unknown(symbolic);
    };
  }

  /** The dimension of a size; what is not positive is no dimension, and some unknown one. */
  static Dim dim(Size size) {
    return switch (size) {
      case Known(long value) -> value > 0 ? new Dim.Fixed(value) : new Dim.Symbolic("");
      case Unknown(Dim.Symbolic dim) -> dim;
    };
  }
}
