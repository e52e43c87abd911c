package dev.warpwright.target.intrinsic;

/**
 * What an instruction that computes asks of the chip beyond what its operands say; who executes or
 * counts it decides by this, never by its name.
 */
public sealed interface Work {
  /** Nothing beyond its operands. */
  record Plain() implements Work {}

  /**
   * A product of matrices by a warp's tensor core.
   *
   * @param rows m of the instruction
   * @param columns n of the instruction
   * @param depth k of the instruction
   */
  record Mma(int rows, int columns, int depth) implements Work {
    /** {@return multiplications with additions of one instruction} */
    public long multiplyAdds() {
      return (long) rows * columns * depth;
    }
  }

  /**
   * Moves matrices of 8 rows between shared memory and a warp's registers.
   *
   * @param matrices 1, 2 or 4
   */
  record MatrixMove(int matrices) implements Work {
    private static final int ROWS = 8;

    /** {@return how many lanes, the first of the warp, give an address each, one for a row} */
    public int lanesWithRows() {
      return ROWS * matrices;
    }
  }

  /** A thread's copy to shared memory that is complete only when it has been waited for. */
  record AsynchronousCopy() implements Work {}
}
