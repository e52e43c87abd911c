package dev.warpwright.runtime.cuda;

/**
 * How a kernel is launched.
 *
 * @param grid blocks
 * @param block threads of a block
 * @param cluster blocks of a cluster; 1x1x1 asks for no clusters
 * @param dynamicShared bytes of shared memory of a block beyond what the kernel declares
 * @param programmatic whether the kernel may start before its predecessor in the stream has
 *     finished; it then waits itself, by {@code griddepcontrol.wait}
 * @param cooperative whether all blocks must be resident at once, so that they may wait for each
 *     other
 */
public record LaunchConfig(
    Dim3 grid,
    Dim3 block,
    Dim3 cluster,
    int dynamicShared,
    boolean programmatic,
    boolean cooperative) {
  private static final int MAX_THREADS = 1024;
  private static final int MAX_GRID_YZ = 65_535;

  /** Checks the limits of CUDA that no device exceeds. */
  public LaunchConfig {
    if (block.count() > MAX_THREADS) {
      throw new IllegalArgumentException(
          "a block of " + block + " threads is more than " + MAX_THREADS);
    }
    if (grid.y() > MAX_GRID_YZ || grid.z() > MAX_GRID_YZ) {
      throw new IllegalArgumentException(
          "a grid of " + grid + " blocks has more than " + MAX_GRID_YZ + " in y or z");
    }
    if (!grid.isMultipleOf(cluster)) {
      throw new IllegalArgumentException(
          "a grid of " + grid + " blocks does not divide into clusters of " + cluster);
    }
    if (dynamicShared < 0) {
      throw new IllegalArgumentException(dynamicShared + " bytes of dynamic shared memory");
    }
  }

  /**
   * {@return a plain launch without dynamic shared memory}
   *
   * @param grid blocks
   * @param block threads of each block
   */
  public static LaunchConfig of(Dim3 grid, Dim3 block) {
    return new LaunchConfig(grid, block, Dim3.ONE, 0, false, false);
  }

  /**
   * {@return a plain launch in one dimension}
   *
   * @param blocks of the grid
   * @param threads of each block
   */
  public static LaunchConfig of(int blocks, int threads) {
    return of(new Dim3(blocks), new Dim3(threads));
  }

  /**
   * {@return the same with blocks in clusters}
   *
   * @param cluster blocks of a cluster, which divide the grid
   */
  public LaunchConfig withCluster(Dim3 cluster) {
    return new LaunchConfig(grid, block, cluster, dynamicShared, programmatic, cooperative);
  }

  /**
   * {@return the same with dynamic shared memory}
   *
   * @param bytes of each block
   */
  public LaunchConfig withDynamicShared(int bytes) {
    return new LaunchConfig(grid, block, cluster, bytes, programmatic, cooperative);
  }

  /**
   * {@return the same, programmatic or not}
   *
   * @param allowed whether the kernel may start before its predecessor in the stream has finished
   */
  public LaunchConfig withProgrammatic(boolean allowed) {
    return new LaunchConfig(grid, block, cluster, dynamicShared, allowed, cooperative);
  }

  /**
   * {@return the same, cooperative or not}
   *
   * @param required whether all blocks must be resident at once
   */
  public LaunchConfig withCooperative(boolean required) {
    return new LaunchConfig(grid, block, cluster, dynamicShared, programmatic, required);
  }

  /** Whether it asks for anything that the plain launch function cannot say. */
  boolean hasAttributes() {
    return hasCluster() || programmatic || cooperative;
  }

  boolean hasCluster() {
    return cluster.count() > 1;
  }
}
