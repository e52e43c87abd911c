package dev.warpwright.target.intrinsic;

/**
 * What an instruction that computes asks of the chip beyond what its operands say; who executes or
 * counts it decides by this, never by its name.
 */
public sealed interface Work {
  /** Nothing beyond its operands. */
  record Plain() implements Work {}

  /** A product of matrices by a warp's tensor core. */
  record Mma(int rows, int columns, int depth) implements Work {
    public long multiplyAdds() {
      return (long) rows * columns * depth;
    }
  }

  /** Moves matrices of 8 rows between shared memory and a warp's registers. */
  record MatrixMove(int matrices) implements Work {
    private static final int ROWS = 8;

    /** The first lanes of the warp give an address each, one for a row. */
    public int lanesWithRows() {
      return ROWS * matrices;
    }
  }

  /** A thread's copy to shared memory that is complete only when it has been waited for. */
  record AsynchronousCopy() implements Work {}
}
