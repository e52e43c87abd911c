package dev.warpwright.model.graph;

/** One leading dimension of a value as the file declared it, before it was flattened to rows. */
public sealed interface Dim {

  /**
   * A dimension of fixed, positive size.
   *
   * @param size at least 1
   */
  record Fixed(long size) implements Dim {
    /** Checks that the size is positive. */
    public Fixed {
      if (size < 1) {
        throw new IllegalArgumentException("a dimension must be positive, not " + size);
      }
    }

    @Override
    public String toString() {
      return Long.toString(size);
    }
  }

  /**
   * A dimension known only at run time; the name is the file's, and may be empty.
   *
   * @param name equal names in one file are equal sizes
   */
  record Symbolic(String name) implements Dim {
    @Override
    public String toString() {
      return name.isEmpty() ? "?" : name;
    }
  }
}
