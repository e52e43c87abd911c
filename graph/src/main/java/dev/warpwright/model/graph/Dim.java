package dev.warpwright.model.graph;

/** One leading dimension of a value as the file declared it, before it was flattened to rows. */
public sealed interface Dim {

  /** A dimension of fixed, positive size. */
  record Fixed(long size) implements Dim {
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

  /** A dimension known only at run time; the name is the file's, and may be empty. */
  record Symbolic(String name) implements Dim {
    @Override
    public String toString() {
      return name.isEmpty() ? "?" : name;
    }
  }
}
