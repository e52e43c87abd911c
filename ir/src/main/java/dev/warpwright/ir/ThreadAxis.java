package dev.warpwright.ir;

/** An index of a CUDA launch. */
public enum ThreadAxis {
  BLOCK_X("blockIdx.x"),
  BLOCK_Y("blockIdx.y"),
  BLOCK_Z("blockIdx.z"),
  THREAD_X("threadIdx.x"),
  THREAD_Y("threadIdx.y"),
  THREAD_Z("threadIdx.z");

  private final String text;

  ThreadAxis(String text) {
    this.text = text;
  }

  /** The name in the text form and in CUDA. */
  public String text() {
    return text;
  }

  public boolean isBlock() {
    return this == BLOCK_X || this == BLOCK_Y || this == BLOCK_Z;
  }

  /** 0, 1, 2 for x, y, z. */
  public int dimension() {
    return ordinal() % 3;
  }

  /**
   * The axis with this text.
   *
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
