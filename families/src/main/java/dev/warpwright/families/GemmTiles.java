package dev.warpwright.families;

import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.workload.GemmWorkload;

/**
 * How the decisions of a family cut a GEMM into tiles.
 *
 * @param m rows of a block's tile
 * @param n columns of a block's tile
 * @param k length of a step
 * @param stages steps in shared memory at once; 1 without a ring
 * @param parts blocks that share the steps of a tile; 1 where they do not, or flow over
 * @param clusterM blocks of a cluster one above the other
 * @param clusterN blocks of a cluster side by side
 * @param minBlocks blocks of an SM
 * @param persistent whether a block's ring goes on from one tile, or part of one, to the next
 * @param turns whether the number of SMs decides which tiles a block takes
 */
public record GemmTiles(
    long m,
    long n,
    long k,
    long stages,
    long parts,
    long clusterM,
    long clusterN,
    long minBlocks,
    boolean persistent,
    boolean turns) {
  /** SMs of which clusters of more than two blocks use all or none. */
  public static final int GROUP = 16;

  /** Tiles of single blocks, of one part each, without a ring. */
  public static GemmTiles of(long m, long n, long k, long minBlocks) {
    return new GemmTiles(m, n, k, 1, 1, 1, 1, minBlocks, false, false);
  }

  /** The parts of a tile, each of which has blocks of its own. */
  public static long parts(WorkDivision division) {
    return division instanceof WorkDivision.Parts(int parts) ? parts : 1;
  }

  /** Tiles of clusters of a GEMM. */
  public long clusters(GemmWorkload workload) {
    return Math.ceilDiv(workload.m(), m * clusterM) * Math.ceilDiv(workload.n(), n * clusterN);
  }

  /** SMs that clusters of so many blocks may use; at least one group. */
  public static int used(int sms, long cluster) {
    return cluster > 2 ? Math.max(1, sms / GROUP) * GROUP : sms;
  }

  /** How often clusters of all tiles, and of all parts of them, fill the SMs. */
  public double waves(GemmWorkload workload, int sms) {
    return (double) workload.batch().count() * clusters(workload) * parts / atOnce(sms);
  }

  /** Clusters that run at the same time. */
  public long atOnce(int sms) {
    long cluster = clusterM * clusterN;
    return used(sms, cluster) * minBlocks / cluster;
  }
}
