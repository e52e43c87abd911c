package dev.warpwright.families;

import dev.warpwright.ir.DType;
import dev.warpwright.target.GpuTarget;
import org.jspecify.annotations.Nullable;

/** What a {@link HopperConfig} has to keep, checked without making a schedule. */
public final class HopperLimits {
  private static final int WARPGROUP_ROWS = 64;
  private static final int MAX_SUMS = 208;

  private HopperLimits() {}

  /** One line that says why a configuration is impossible; null if nothing is known against it. */
  public static @Nullable String problem(GemmWorkload workload, HopperConfig config) {
    int bytes = workload.operands().bytes();
    if (workload.operands() != DType.BF16 && workload.operands() != DType.F16) {
      return "warpgroup products take bf16 and f16, not " + workload.operands().text();
    }
    boolean alongN = workload.layout() == GemmWorkload.Layout.NN && !config.swapped();
    if (workload.layout() != GemmWorkload.Layout.NT && !alongN) {
      return "layout "
          + workload.layout()
          + " needs an operand that warpgroup products do not take";
    }
    long row = (alongN ? workload.n() : workload.k()) * bytes;
    if (workload.k() * bytes % 16 != 0 || row % 16 != 0) {
      return "rows of %d and %d bytes: bulk copies need multiples of 16"
          .formatted(workload.k() * bytes, row);
    }
    if (alongN && config.tileN() % 16 != 0) {
      return config.tileN()
          + " columns of an operand stored along them; multiples of 16 are possible";
    }
    int productRows = config.swapped() ? config.tileN() : config.tileM();
    int productColumns = config.swapped() ? config.tileM() : config.tileN();
    if (config.consumers() < 1 || config.consumers() > 4) {
      return config.consumers() + " consumer warpgroups; a block has 1 to 4";
    }
    if (productRows < 1 || productRows % (WARPGROUP_ROWS * config.consumers()) != 0) {
      return "%d rows over %d warpgroups are no multiples of 64"
          .formatted(productRows, config.consumers());
    }
    if (productColumns < 8 || productColumns > 256 || productColumns % 8 != 0) {
      return productColumns + " columns of a product; 8 to 256 in steps of 8 are possible";
    }
    if (productRows > 256) {
      return productRows + " rows of a tile; a bulk copy moves at most 256";
    }
    if (config.tileK() < 32 / bytes || config.tileK() * bytes % 32 != 0) {
      return "a step of %d elements along K is no multiple of 32 bytes".formatted(config.tileK());
    }
    if (config.stages() < 2 || config.minBlocks() < 1) {
      return config.stages() + " stages, " + config.minBlocks() + " blocks: 2 and 1 at least";
    }
    long sums = productRows / config.consumers() * (long) productColumns / 128;
    if (sums > MAX_SUMS) {
      return "sums of %d registers of a thread, at most %d fit".formatted(sums, MAX_SUMS);
    }
    String cluster = cluster(workload, config);
    if (cluster != null) {
      return cluster;
    }
    return sharedProblem(sharedBytes(workload, config), config.minBlocks(), GpuTarget.SM_90A);
  }

  /** Why so many blocks with so much shared memory each do not fit on a multiprocessor. */
  static @Nullable String sharedProblem(long shared, int blocks, GpuTarget target) {
    long each =
        Math.min(
            target.sharedPerBlock(), target.sharedPerSm() / blocks - target.reservedPerBlock());
    return shared <= each
        ? null
        : "%d bytes of shared memory; %d blocks of %s have %d each"
            .formatted(shared, blocks, target.name(), each);
  }

  private static @Nullable String cluster(GemmWorkload workload, HopperConfig config) {
    int size = config.clusterM() * config.clusterN();
    if (size == 1) {
      return null;
    }
    if (config.blocks() == 0 || config.blocks() % size != 0) {
      return "%d blocks are no multiple of a cluster of %d".formatted(config.blocks(), size);
    }
    if (config.clusterM() > 1 && config.clusterN() > 1) {
      return "a cluster shares operands along one dimension only";
    }
    boolean fits =
        Math.ceilDiv(workload.m(), config.tileM()) >= config.clusterM()
            && Math.ceilDiv(workload.n(), config.tileN()) >= config.clusterN();
    return fits ? null : "a cluster of more tiles than there are";
  }

  /** Bytes of shared memory of a block. */
  public static long sharedBytes(GemmWorkload workload, HopperConfig config) {
    int bytes = workload.operands().bytes();
    long stage = (long) (config.tileM() + config.tileN()) * config.tileK() * bytes;
    long barriers = 16L * config.stages();
    return config.stages() * stage + staging(workload, config) + barriers;
  }

  private static long staging(GemmWorkload workload, HopperConfig config) {
    int bytes = workload.result().bytes();
    if (config.swapped() || workload.n() * bytes % 16 != 0) {
      return 0;
    }
    int row = config.tileN() * bytes;
    int width = row % 128 == 0 ? 128 : row % 64 == 0 ? 64 : row % 32 == 0 ? 32 : 16;
    int panels = row / width * (config.tileM() / WARPGROUP_ROWS / config.consumers());
    return (long) Math.min(2, panels) * config.consumers() * WARPGROUP_ROWS * width;
  }
}
