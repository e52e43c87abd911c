package dev.warpwright.families.wgmma;

import dev.warpwright.families.GemmTiles;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.target.intrinsic.WgmmaGemm;

/**
 * The decisions of {@link HopperGemm}.
 *
 * @param tileM rows of a block's tile
 * @param tileN columns of a block's tile
 * @param tileK length of a step along K
 * @param stages tiles of operands that are in shared memory at once
 * @param consumers warpgroups that multiply
 * @param clusterM blocks of a cluster that take tiles one above the other
 * @param clusterN blocks of a cluster that take tiles side by side
 * @param order of the tiles
 * @param blocks that share the tiles, all running at once; 0 for one block a tile, in which case
 *     {@code order} is row
 * @param minBlocks blocks that an SM shall hold
 * @param swapAb whether the columns of a warpgroup's product are rows of the result: for few rows
 * @param division how the steps of tiles are shared out; not whole only for a number of blocks,
 *     except for two parts: those of a tile are then for two blocks of a cluster
 * @param movement of operands and results
 */
public record HopperConfig(
    int tileM,
    int tileN,
    int tileK,
    int stages,
    int consumers,
    int clusterM,
    int clusterN,
    BlockOrder order,
    int blocks,
    int minBlocks,
    boolean swapAb,
    WorkDivision division,
    Movement movement) {

  /**
   * How operands and results move, where there is a choice.
   *
   * @param direct whether results go from registers to global memory, not through shared memory,
   *     from which TMA copies store them, or threads rows that TMA copies refuse
   * @param transposed whether results of swapped operands go through shared memory, too
   * @param vectors whether elements that threads would copy one by one come in aligned vectors,
   *     which are shifted
   * @param held whether an operand that is MN-major, and may not be, goes on from shared memory to
   *     registers; otherwise threads copy it to where it is K-major
   */
  public record Movement(boolean direct, boolean vectors, boolean held, boolean transposed) {
    static final Movement USUAL = new Movement(false, false, false, false);
  }

  /** A configuration in which tiles are whole. */
  public HopperConfig(
      int tileM,
      int tileN,
      int tileK,
      int stages,
      int consumers,
      int clusterM,
      int clusterN,
      BlockOrder order,
      int blocks,
      int minBlocks,
      boolean swapAb) {
    this(
        tileM,
        tileN,
        tileK,
        stages,
        consumers,
        clusterM,
        clusterN,
        order,
        blocks,
        minBlocks,
        swapAb,
        new WorkDivision.Whole(),
        Movement.USUAL);
  }

  /** A persistent grid of {@code blocks} blocks in pairs that share tiles of B. */
  public static HopperConfig pairs(int tileM, int tileN, int stages, int consumers, int blocks) {
    return new HopperConfig(
        tileM, tileN, 64, stages, consumers, 2, 1, new BlockOrder.Grouped(8), blocks, 1, false);
  }

  /** Whether results go from registers to global memory. */
  public boolean direct() {
    return movement.direct();
  }

  /** Whether elements come in aligned vectors. */
  public boolean vectors() {
    return movement.vectors();
  }

  /** Whether an MN-major operand goes on to registers. */
  public boolean held() {
    return movement.held();
  }

  /** Whether results of swapped operands go through shared memory. */
  public boolean transposed() {
    return movement.transposed();
  }

  /** Whether several blocks may compute a tile. */
  public boolean isDivided() {
    return !(division instanceof WorkDivision.Whole);
  }

  /** Whether a tile has fewer rows than an instruction, which computes others for nothing. */
  public boolean isOfFewRows() {
    return !swapAb && tileM < WgmmaGemm.ROWS;
  }

  /** Whether two blocks of a cluster share the steps of a tile. */
  public boolean isPaired() {
    return blocks == 0 && division.equals(new WorkDivision.Parts(2));
  }

  /** The same with steps of another length. */
  public HopperConfig withTileK(int newTileK) {
    return with(newTileK, clusterM, clusterN, division, movement);
  }

  /** The same with clusters of another shape. */
  public HopperConfig withCluster(int newClusterM, int newClusterN) {
    return with(tileK, newClusterM, newClusterN, division, movement);
  }

  /** The same with work divided in another way. */
  public HopperConfig withDivision(WorkDivision other) {
    return with(tileK, clusterM, clusterN, other, movement);
  }

  /** The same with results straight from registers. */
  public HopperConfig fromRegisters() {
    return with(new Movement(true, vectors(), held(), transposed()));
  }

  /** The same with elements in aligned vectors. */
  public HopperConfig withVectors() {
    return with(new Movement(direct(), true, held(), transposed()));
  }

  /** The same with the MN-major operand in registers. */
  public HopperConfig holding() {
    return with(new Movement(direct(), vectors(), true, transposed()));
  }

  /** The same with results of swapped operands through shared memory. */
  public HopperConfig transposing() {
    return with(new Movement(direct(), vectors(), held(), true));
  }

  private HopperConfig with(Movement other) {
    return with(tileK, clusterM, clusterN, division, other);
  }

  private HopperConfig with(
      int newTileK, int newM, int newN, WorkDivision newDivision, Movement newMovement) {
    return new HopperConfig(
        tileM,
        tileN,
        newTileK,
        stages,
        consumers,
        newM,
        newN,
        order,
        blocks,
        minBlocks,
        swapAb,
        newDivision,
        newMovement);
  }

  /** How it cuts a GEMM into tiles. */
  public GemmTiles tiles() {
    boolean persistent = blocks() > 0;
    return new GemmTiles(
        tileM(),
        tileN(),
        tileK(),
        stages(),
        GemmTiles.parts(division()),
        clusterM(),
        clusterN(),
        minBlocks(),
        persistent,
        persistent);
  }
}
