package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.PrimFunc;

/**
 * Lets blocks run in clusters, whose blocks may share what they load.
 *
 * <pre>{@code
 * primfunc f(…) { … }  →  primfunc f(…) [clusterM = m, clusterN = n] { … }
 * }</pre>
 *
 * <p>A cluster computes {@code m} tiles that are neighbours along the rows by {@code n} along the
 * columns.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>Both sizes are at least 1.
 *   <li>There are at most 8 blocks in a cluster, as every device with clusters allows.
 *   <li>A loop is shared out to blocks: persistent, or bound to a block index.
 * </ol>
 */
public final class Cluster {
  private static final String NAME = "cluster";
  private static final int MAX_BLOCKS = 8;

  private Cluster() {}

  public static PrimFunc apply(PrimFunc func, long sizeM, long sizeN) {
    Check check = new Check(NAME, func);
    check.require(
        1, sizeM >= 1 && sizeN >= 1, "a cluster of " + sizeM + " x " + sizeN + " blocks", null);
    check.require(
        2,
        sizeM <= MAX_BLOCKS && sizeN <= MAX_BLOCKS && sizeM * sizeN <= MAX_BLOCKS,
        sizeM * sizeN + " blocks in a cluster, more than " + MAX_BLOCKS,
        null);
    check.require(
        3, !Persistent.blockLoops(func).isEmpty(), "no loop is shared out to blocks", null);
    return func.withAttrs(func.attrs().with("clusterM", sizeM).with("clusterN", sizeN));
  }
}
