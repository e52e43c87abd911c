package dev.warpwright.families;

import java.util.List;

/**
 * What a tile of a GEMM takes by a family's time model, for those who play kernels in time.
 *
 * @param stepUs a step along K by what a block's own SM does, by the blocks that work there: the
 *     first entry is that of one alone
 * @param beginUs until the first operands are there
 * @param ahead whether operands are copied while the tile before is still stored, so that only what
 *     had to wait begins late
 * @param endUs until the result is stored, by the blocks that work on the SM
 * @param l2BytesPerUs that L2 gives all SMs together
 * @param dramBytesPerUs of device memory
 * @param powerUs that a step of each block takes of the chip's power
 * @param sharp how little these lengthen each other: a norm's exponent
 */
public record TileTimes(
    List<Double> stepUs,
    double beginUs,
    boolean ahead,
    List<Double> endUs,
    double l2BytesPerUs,
    double dramBytesPerUs,
    double powerUs,
    double sharp) {
  public TileTimes {
    stepUs = List.copyOf(stepUs);
    endUs = List.copyOf(endUs);
    if (stepUs.isEmpty() || stepUs.size() != endUs.size()) {
      throw new IllegalArgumentException(stepUs + " and " + endUs + " are of the same blocks");
    }
  }

  /** Blocks that an SM holds. */
  public int perSm() {
    return stepUs.size();
  }

  /**
   * A step of each block that works, without device memory.
   *
   * @param sharing blocks that work on its SM
   * @param working blocks on all SMs
   * @param asked bytes that one step of all of them asks L2 for
   */
  public double stepUs(int sharing, int working, double asked) {
    return TileGrid.together(
        sharp, stepUs.get(sharing - 1), asked / l2BytesPerUs, working * powerUs);
  }
}
