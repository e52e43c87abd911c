package dev.warpwright.ir;

/** An index of a CUDA launch. */
public enum ThreadAxis {
  /** The block's place in the grid along x; tiles that follow each other there may share L2. */
  BLOCK_X("blockIdx.x"),
  /** The block's place in the grid along y. */
  BLOCK_Y("blockIdx.y"),
  /** The block's place in the grid along z. */
  BLOCK_Z("blockIdx.z"),
  /** The thread's place in its block along x, where lanes of a warp follow each other. */
  THREAD_X("threadIdx.x"),
  /** The thread's place in its block along y. */
  THREAD_Y("threadIdx.y"),
  /** The thread's place in its block along z. */
  THREAD_Z("threadIdx.z");

  private final String text;

  ThreadAxis(String text) {
    this.text = text;
  }

  /** {@return the name in the text form and in CUDA} */
  public String text() {
    return text;
  }

  /** {@return whether it is a place of blocks in the grid} */
  public boolean isBlock() {
    return this == BLOCK_X || this == BLOCK_Y || this == BLOCK_Z;
  }

  /** {@return 0, 1, 2 for x, y, z} */
  public int dimension() {
    return ordinal() % 3;
  }

  /**
   * {@return the axis with this text}
   *
   * @param text as {@link #text()} gives it
   * @throws IllegalArgumentException if there is none
   */
  public static ThreadAxis parse(String text) {
    for (ThreadAxis axis : values()) {
      if (axis.text.equals(text)) {
        return axis;
      }
    }
    throw new IllegalArgumentException("unknown thread axis '" + text + "'");
  }
}
