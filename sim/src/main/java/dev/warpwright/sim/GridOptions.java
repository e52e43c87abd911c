package dev.warpwright.sim;

import dev.warpwright.target.GpuTarget;

/**
 * How a {@link GridInterpreter} executes.
 *
 * @param blocks order in which blocks start
 * @param warps which of the warps that can run goes on, whenever one has to wait; bulk loads arrive
 *     in that order when all wait, with random warps also before
 * @param seed of the random orders
 * @param residentBlocks blocks that run at the same time, at least 1 and always a whole cluster:
 *     SMs times the blocks on each
 * @param checkRaces whether conflicting accesses to shared and global memory are findings
 * @param engine what executes
 * @param count whether requests to memory are counted, which is slower
 * @param target whose limits must suffice, unless the kernel's attribute {@code arch} names a newer
 *     one
 */
public record GridOptions(
    Options.Order blocks,
    WarpChoice warps,
    long seed,
    int residentBlocks,
    boolean checkRaces,
    Engine engine,
    boolean count,
    GpuTarget target) {
  /** What executes. */
  public enum Engine {
    /**
     * Bytecode, for kernels of plain threads and block barriers thread by thread; where anything
     * may be wrong, the interpreter. Findings are the interpreter's.
     */
    FASTEST,
    /** The interpreter alone. */
    INTERPRETER
  }

  /** Which warp goes on. */
  public enum WarpChoice {
    /** The first that can. */
    FIRST,
    /** The last that can. */
    LAST,
    /** Any warp that can go on, by the seed. */
    RANDOM,
    /** Each in its turn, so that blocks go on together. */
    TURNS,
    /**
     * That which has not gone on for longest: no block does its second thing before all that are
     * resident have done their first.
     */
    EVEN
  }

  /** In order, one block at a time, everything checked. */
  public static final GridOptions DEFAULT =
      new GridOptions(
          Options.Order.FORWARD,
          WarpChoice.FIRST,
          0,
          1,
          true,
          Engine.FASTEST,
          false,
          GpuTarget.SM_90A);

  /** Checks the number of blocks. */
  public GridOptions {
    if (residentBlocks < 1) {
      throw new IllegalArgumentException("residentBlocks must be at least 1");
    }
  }

  /**
   * {@return options with blocks and warps in random order, several blocks at a time}
   *
   * @param seed of both orders
   */
  public static GridOptions random(long seed) {
    return new GridOptions(
        Options.Order.SHUFFLED,
        WarpChoice.RANDOM,
        seed,
        3,
        true,
        Engine.FASTEST,
        false,
        GpuTarget.SM_90A);
  }

  /**
   * {@return so many blocks at a time, as evenly as can be: as on a GPU where all start at once}
   *
   * @param residentBlocks at least 1
   */
  public static GridOptions even(int residentBlocks) {
    return DEFAULT.withWarps(WarpChoice.EVEN).withBlocks(Options.Order.FORWARD, residentBlocks);
  }

  /**
   * {@return the same with warps that take turns in another way}
   *
   * @param choice which warp goes on
   */
  public GridOptions withWarps(WarpChoice choice) {
    return new GridOptions(blocks, choice, seed, residentBlocks, checkRaces, engine, count, target);
  }

  /**
   * {@return the same with blocks in another order}
   *
   * @param order in which blocks start
   * @param resident blocks at a time, at least 1
   */
  public GridOptions withBlocks(Options.Order order, int resident) {
    return new GridOptions(order, warps, seed, resident, checkRaces, engine, count, target);
  }

  /**
   * {@return the same with another way to execute}
   *
   * @param choice bytecode or the interpreter
   */
  public GridOptions withEngine(Engine choice) {
    return new GridOptions(blocks, warps, seed, residentBlocks, checkRaces, choice, count, target);
  }

  /**
   * {@return options with which requests are counted, blocks and warps taking turns}
   *
   * @param residentBlocks at least 1
   */
  public static GridOptions counting(int residentBlocks) {
    return new GridOptions(
        Options.Order.FORWARD,
        WarpChoice.TURNS,
        0,
        residentBlocks,
        false,
        Engine.INTERPRETER,
        true,
        GpuTarget.SM_90A);
  }

  /**
   * {@return the same for another target, whose limits are checked}
   *
   * @param choice the target
   */
  public GridOptions withTarget(GpuTarget choice) {
    return new GridOptions(blocks, warps, seed, residentBlocks, checkRaces, engine, count, choice);
  }

  /** {@return the same without looking for races, which takes most of the time} */
  public GridOptions withoutRaces() {
    return new GridOptions(blocks, warps, seed, residentBlocks, false, engine, count, target);
  }
}
