package dev.warpwright.families.mma;

import dev.warpwright.families.GemmTiles;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.workload.GemmWorkload;

/**
 * The decisions of {@link AmpereGemm}.
 *
 * @param tileM rows of a block's tile
 * @param tileN columns of a block's tile
 * @param tileK length of a step along K
 * @param stages tiles of operands that are in shared memory at once
 * @param warpsM warps that share the rows
 * @param warpsN warps that share the columns
 * @param minBlocks blocks that an SM shall hold
 * @param order of the tiles
 * @param swapAb whether rows of the product are columns of the result
 * @param blocks that share the work, all running at once; 0 for one block a tile, or part of one
 * @param division how the steps of tiles are shared out
 * @param vectors whether elements that threads would copy one by one come in aligned vectors, which
 *     are shifted
 */
public record AmpereConfig(
    int tileM,
    int tileN,
    int tileK,
    int stages,
    int warpsM,
    int warpsN,
    int minBlocks,
    BlockOrder order,
    boolean swapAb,
    int blocks,
    WorkDivision division,
    boolean vectors) {

  /** A configuration in which each block has a tile. */
  public AmpereConfig(
      int tileM,
      int tileN,
      int tileK,
      int stages,
      int warpsM,
      int warpsN,
      int minBlocks,
      BlockOrder order,
      boolean swapAb) {
    this(
        tileM,
        tileN,
        tileK,
        stages,
        warpsM,
        warpsN,
        minBlocks,
        order,
        swapAb,
        0,
        new WorkDivision.Whole(),
        false);
  }

  /** The same with work divided in another way, by so many blocks. */
  public AmpereConfig withDivision(WorkDivision other, int newBlocks) {
    return new AmpereConfig(
        tileM, tileN, tileK, stages, warpsM, warpsN, minBlocks, order, swapAb, newBlocks, other,
        vectors);
  }

  /** The same with elements in aligned vectors. */
  public AmpereConfig withVectors() {
    return new AmpereConfig(
        tileM, tileN, tileK, stages, warpsM, warpsN, minBlocks, order, swapAb, blocks, division,
        true);
  }

  /** Whether several blocks may compute a tile. */
  public boolean isDivided() {
    return !(division instanceof WorkDivision.Whole);
  }

  /** Threads of a block. */
  public int threads() {
    return 32 * warpsM * warpsN;
  }

  /**
   * Whether the rows of the product's left operand, of B where operands are swapped, lie across K.
   */
  public boolean acrossLeft(GemmWorkload.Layout layout) {
    return swapAb ? !layout.transposedB() : layout.transposedA();
  }

  /** Whether the right operand's rows lie across K. */
  public boolean acrossRight(GemmWorkload.Layout layout) {
    return swapAb ? layout.transposedA() : !layout.transposedB();
  }

  /** How it cuts a GEMM into tiles. */
  public GemmTiles tiles() {
    return new GemmTiles(
        tileM(),
        tileN(),
        tileK(),
        stages(),
        GemmTiles.parts(division()),
        1,
        1,
        minBlocks(),
        false,
        division() instanceof WorkDivision.Stream);
  }
}
