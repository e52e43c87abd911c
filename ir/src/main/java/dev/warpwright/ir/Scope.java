package dev.warpwright.ir;

/** Where a buffer lives. */
public enum Scope {
  /** Device memory, or the heap of the host; visible to the whole grid. */
  GLOBAL("global"),
  /**
   * Memory of one thread block. In a host kernel: scratch memory of one iteration of the enclosing
   * parallel loop, which stays in the core's cache.
   */
  SHARED("shared"),
  /** Shared memory of another block of the same cluster (distributed shared memory). */
  SHARED_CLUSTER("shared.cluster"),
  /**
   * Registers of one thread. In a host kernel: local variables, vectors where it is accessed by
   * vectors.
   */
  LOCAL("local"),
  /**
   * Registers of a warp, a warpgroup or a block together: a {@link
   * dev.warpwright.ir.layout.FragmentLayout} says which thread holds which element. Tile programs
   * only; lowering turns a fragment into {@link #LOCAL} buffers.
   */
  FRAGMENT("fragment");

  private final String text;

  Scope(String text) {
    this.text = text;
  }

  /** {@return the name used by the text form} */
  public String text() {
    return text;
  }

  /**
   * {@return the scope with this text}
   *
   * @param text as {@link #text()} gives it
   * @throws IllegalArgumentException if there is none
   */
  public static Scope parse(String text) {
    for (Scope scope : values()) {
      if (scope.text.equals(text)) {
        return scope;
      }
    }
    throw new IllegalArgumentException("unknown memory scope '" + text + "'");
  }

  @Override
  public String toString() {
    return text;
  }
}
