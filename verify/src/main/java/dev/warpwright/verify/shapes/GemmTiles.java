package dev.warpwright.verify.shapes;

import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.workload.GemmWorkload;

/**
 * How a tuning point cuts a GEMM into tiles.
 *
 * @param m rows of a block's tile
 * @param n columns of a block's tile
 * @param k length of a step
 * @param stages steps in shared memory at once; 1 without a ring
 * @param parts blocks that share the steps of a tile; 1 where they do not, or flow over
 * @param clusterM blocks of a cluster one above the other
 * @param clusterN blocks of a cluster side by side
 * @param minBlocks blocks of an SM
 */
record GemmTiles(
    long m, long n, long k, long stages, long parts, long clusterM, long clusterN, long minBlocks) {
  /** SMs of which large clusters use all or none. */
  private static final long GROUP = 16;

  /** Lanes of a warp. */
  private static final long WARP = 32;

  /** Bytes of a vector. */
  private static final long VECTOR = 16;

  /** The tiles of a point of any family that is chosen for a GEMM. */
  static GemmTiles of(Point point, GemmWorkload workload) {
    long minBlocks = number(point, "minBlocks");
    return switch (String.valueOf(point.option(Space.SKETCH))) {
      case "simt" -> {
        long lanesM = number(point, "lanesM");
        yield new GemmTiles(
            number(point, "rows") * lanesM * number(point, "warpsM"),
            number(point, "columns") * (WARP / lanesM) * number(point, "warpsN"),
            number(point, "tileK"),
            number(point, "stages"),
            number(point, "parts"),
            1,
            1,
            minBlocks);
      }
      case "streamed" -> {
        long lanesK = number(point, "lanesK");
        long step = number(point, "reads") * lanesK * number(point, "warpsK");
        yield new GemmTiles(
            workload.m(),
            number(point, "columns") * (WARP / lanesK) * number(point, "warpsN"),
            step * VECTOR / workload.operands().bytes(),
            1,
            1,
            1,
            1,
            minBlocks);
      }
      case "plain" -> {
        String[] block = String.valueOf(point.option("block")).split("x");
        yield new GemmTiles(
            Long.parseLong(block[0]), Long.parseLong(block[1]), 1, 1, 1, 1, 1, minBlocks);
      }
      default -> {
        String cluster = point.option("cluster");
        String division = point.option("division");
        yield new GemmTiles(
            number(point, "tileM"),
            number(point, "tileN"),
            number(point, "tileK"),
            number(point, "stages"),
            division != null
                    && WorkDivision.parse(division) instanceof WorkDivision.Parts(int parts)
                ? parts
                : 1,
            cluster == null ? 1 : cluster.charAt(0) - '0',
            cluster == null ? 1 : cluster.charAt(2) - '0',
            minBlocks);
      }
    };
  }

  private static long number(Point point, String name) {
    String option = point.option(name);
    return option == null ? 1 : Long.parseLong(option);
  }

  /** Tiles of clusters of a GEMM. */
  long clusters(GemmWorkload workload) {
    return Math.ceilDiv(workload.m(), m * clusterM) * Math.ceilDiv(workload.n(), n * clusterN);
  }

  /** Clusters that run at the same time; SMs come in groups, which large clusters do not fill. */
  long atOnce(long sms) {
    long cluster = clusterM * clusterN;
    long used = cluster > 2 ? Math.max(1, sms / GROUP) * GROUP : sms;
    return used * minBlocks / cluster;
  }
}
