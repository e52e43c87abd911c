package dev.warpwright.families.wgmma;

import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.gpu.StagedStore;
import dev.warpwright.lower.gpu.WarpRoles;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.HopperIntrinsics;
import dev.warpwright.target.intrinsic.WgmmaGemm;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a {@link HopperConfig} has to keep, checked without making a schedule. */
public final class HopperLimits {
  /** Of panels that are transposed, at least. */
  private static final int TRANSPOSED_ROWS = 16;

  private static final int WARPGROUP_ROWS = 64;
  private static final int MAX_SUMS = 208;

  /** Rows of a warp. */
  static final int MIN_ROWS = 16;

  /** Bytes of K that an instruction multiplies. */
  private static final int STEP_BYTES = 32;

  /** Blocks of a grid along its second dimension. */
  private static final int MAX_GRID = 65_535;

  private static final int MAX_CLUSTER = 8;

  /** Bytes whose multiples TMA copies begin at in shared memory; panels are no wider. */
  private static final int COPY_ALIGNMENT = 128;

  private HopperLimits() {}

  /** One line that says why a configuration is impossible; null if nothing is known against it. */
  public static @Nullable String problem(GemmWorkload workload, HopperConfig config) {
    String operands = typeProblem(workload);
    if (operands != null) {
      return operands;
    }
    if (workload.epilogue().isNormed()
        && (config.consumers() > 1 || config.isDivided() || alignmentProblem(workload) != null)) {
      return "rows are normed by one warpgroup, for which TMA copies all of K";
    }
    int bytes = workload.operands().bytes();
    boolean alongColumns =
        bytes < 4
            && (config.swapAb()
                ? workload.layout().transposedA()
                : !workload.layout().transposedB());
    int productRows = config.swapAb() ? config.tileN() : config.tileM();
    int productColumns = config.swapAb() ? config.tileM() : config.tileN();
    if (config.consumers() < 1 || config.consumers() > 4) {
      return config.consumers() + " consumer warpgroups; a block has 1 to 4";
    }
    if (config.isOfFewRows()) {
      String few = fewProblem(workload, config);
      if (few != null) {
        return few;
      }
    } else if (productRows < 1 || productRows % (WARPGROUP_ROWS * config.consumers()) != 0) {
      return String.format(
          Locale.ROOT,
          "%d rows over %d warpgroups are no multiples of 64",
          productRows,
          config.consumers());
    }
    if (config.transposed() && !(config.swapAb() && canTranspose(workload, config.tileM()))) {
      return "results are transposed on their way of swapped operands, of 16 bits, at least 16 rows at a time";
    }
    if (config.held()) {
      String held = heldProblem(workload, config, productRows);
      if (held != null) {
        return held;
      }
    }
    if (productColumns < 8 || productColumns > 256 || productColumns % 8 != 0) {
      return productColumns + " columns of a wgmma; 8 to 256 in steps of 8 are possible";
    }
    if (workload.operands() == DType.I8 && productColumns > 32 && productColumns % 16 != 0) {
      return productColumns
          + " columns of a wgmma in int8; from 32 on multiples of 16 are possible";
    }
    if (alongColumns && productColumns % 16 != 0) {
      return productColumns
          + " columns of an operand stored along them; multiples of 16 are possible";
    }
    if (workload.epilogue().glu() && config.tileN() % (2 * Epilogue.GLU_GROUP) != 0) {
      return config.tileN()
          + " columns of a gated linear unit's tile; multiples of 16 are possible";
    }
    if (productRows > 256) {
      return productRows + " rows of a tile; a TMA copy moves at most 256";
    }
    if (config.tileK() < 32 / bytes || config.tileK() * bytes % 32 != 0) {
      return String.format(
          Locale.ROOT, "a step of %d elements of K is no multiple of 32 bytes", config.tileK());
    }
    if (config.stages() < 2 || config.minBlocks() < 1) {
      return config.stages() + " stages, " + config.minBlocks() + " blocks: 2 and 1 at least";
    }
    long sums = accumulatorRegisters(workload, config);
    if (sums > MAX_SUMS) {
      return "accumulators of " + sums + " registers of a thread, at most " + MAX_SUMS + " fit";
    }
    if (config.isPaired()) {
      String pair = pairProblem(workload, config);
      if (pair != null) {
        return pair;
      }
    } else if (config.isDivided() && config.blocks() == 0) {
      return String.format(
          Locale.ROOT, "work divided as %s needs a number of blocks", config.division().text());
    } else if (config.isDivided() && workload.precision() == Precision.F16_ACCUMULATORS) {
      return "accumulators in f16 are not added up over several blocks";
    }
    String cluster = cluster(workload, config);
    if (cluster != null) {
      return cluster;
    }
    return sharedProblem(sharedBytes(workload, config), config.minBlocks(), GpuTarget.SM_90A);
  }

  /** Whether tiles may have fewer rows than an instruction. */
  static boolean takesFewRows(GemmWorkload workload) {
    return workload.layout() == GemmWorkload.Layout.NT
        && workload.operands().bytes() == 2
        && workload.precision().accumulators() == DType.F32;
  }

  /**
   * What tiles of fewer rows than an instruction has need: it reads on behind the ring of A, where
   * that of B is, and the warps that have rows store them.
   */
  private static @Nullable String fewProblem(GemmWorkload workload, HopperConfig config) {
    return config.tileM() % MIN_ROWS == 0
            && config.tileM() > 0
            && config.consumers() == 1
            && config.direct()
            && !config.isDivided()
            && takesFewRows(workload)
            && config.tileN() <= HopperIntrinsics.FEW_ROWS_COLUMNS
            && config.tileM() + config.stages() * config.tileN() >= WARPGROUP_ROWS
        ? null
        : config.tileM()
            + " rows of a tile: 16, 32 or 48 are one warpgroup's, of K-major operands of 16 bits";
  }

  /** Threads of a block for which TMA copies all there is. */
  static int threads(HopperConfig config) {
    WarpRoles.Producer producer = WarpRoles.Producer.ONE_THREAD;
    return new WarpRoles(config.consumers(), config.minBlocks(), 0, producer).threads();
  }

  /** Registers of a consumer thread that hold sums. */
  public static long accumulatorRegisters(GemmWorkload workload, HopperConfig config) {
    int rows = config.isOfFewRows() ? WARPGROUP_ROWS : config.tileM();
    long elements = (long) rows * config.tileN() / (128L * config.consumers());
    return Math.ceilDiv(elements * workload.precision().accumulators().bytes(), 4);
  }

  /**
   * Why no configuration computes a product as fast as these kernels are meant to; null if some
   * may. Products whose rows are no multiples of 16 bytes can be scheduled, but threads copy them.
   */
  public static @Nullable String operandsProblem(GemmWorkload workload) {
    String types = typeProblem(workload);
    if (types != null) {
      return types;
    }
    return alignmentProblem(workload);
  }

  private static @Nullable String alignmentProblem(GemmWorkload workload) {
    int bytes = workload.operands().bytes();
    long rowOfA = workload.lda() * bytes;
    long rowOfB = workload.ldb() * bytes;
    Batch.Strides strides = workload.batch().strides();
    if (strides.a() * bytes % 16 != 0 || strides.b() * bytes % 16 != 0) {
      return String.format(
          Locale.ROOT,
          "GEMMs' matrices %d and %d bytes apart: TMA copies need multiples of 16",
          strides.a() * bytes,
          strides.b() * bytes);
    }
    return rowOfA % 16 == 0 && rowOfB % 16 == 0
        ? null
        : String.format(
            Locale.ROOT,
            "rows of %d and %d bytes: TMA copies need multiples of 16",
            rowOfA,
            rowOfB);
  }

  /** Why no configuration computes a product; null if some may, though threads have to copy it. */
  public static @Nullable String typeProblem(GemmWorkload workload) {
    if (instructionType(workload) == null) {
      return String.format(
          Locale.ROOT,
          "wgmma takes bf16, f16, tf32, 8-bit floats and int8, not %s in %s",
          workload.operands().text(),
          workload.precision().arithmetic());
    }
    if (workload.k() == 0) {
      return "K = 0: there is nothing to accumulate";
    }
    // Threads copy dense matrices only, or aligned ones that they transpose.
    boolean inVectors = workload.operands().bytes() == 1 && isTransposed(workload);
    return workload.isStrided() || inVectors ? alignmentProblem(workload) : null;
  }

  /** Whether some operand is MN-major, and instructions take it only if it is K-major. */
  static boolean isTransposed(GemmWorkload workload) {
    return workload.operands().bytes() != 2 && workload.layout() != GemmWorkload.Layout.NT;
  }

  /** Whether threads transpose such operands, or one of two, on their way to shared memory. */
  static boolean transposes(GemmWorkload workload, HopperConfig config) {
    return isTransposed(workload)
        && (!config.held() || workload.layout() == GemmWorkload.Layout.TN);
  }

  /**
   * Whether an MN-major operand may go through registers: tf32 in NN, where it is B, in TT, where
   * it is A, and in TN, where the other one is transposed by threads.
   */
  static boolean canBeHeld(GemmWorkload workload) {
    return workload.precision() == Precision.TF32
        && workload.layout() != GemmWorkload.Layout.NT
        && !workload.epilogue().glu()
        && alignmentProblem(workload) == null;
  }

  /** Registers of a thread that copies, if all of a warpgroup do. */
  static int copyingRegisters(GemmWorkload workload, HopperConfig config) {
    int sums = Math.toIntExact(accumulatorRegisters(workload, config));
    WarpRoles.Producer producer =
        transposes(workload, config) ? WarpRoles.Producer.TRANSPOSING : WarpRoles.Producer.COPYING;
    return new WarpRoles(config.consumers(), config.minBlocks(), sums, producer)
        .producerRegisters();
  }

  /**
   * Registers of a consumer thread that hold a step of the operand in registers, if there is one.
   */
  static int heldRegisters(GemmWorkload workload, HopperConfig config) {
    return config.held()
        ? config.tileK() * workload.operands().bytes() / STEP_BYTES * WgmmaGemm.A_REGISTERS
        : 0;
  }

  /** Rows of a product of whose operands one is in registers: each warpgroup has 64. */
  private static @Nullable String heldProblem(
      GemmWorkload workload, HopperConfig config, int productRows) {
    boolean mnMajor =
        config.swapAb() ? !workload.layout().transposedB() : workload.layout().transposedA();
    if (!canBeHeld(workload) || !mnMajor) {
      return "layout "
          + workload.layout()
          + " of tf32: an MN-major operand has to be the one in registers";
    }
    return productRows == WARPGROUP_ROWS * config.consumers()
        ? null
        : productRows + " rows of a tile in registers; each warpgroup holds 64";
  }

  /** The type in an instruction's name; null if there is none. */
  static @Nullable String instructionType(GemmWorkload workload) {
    return switch (workload.precision()) {
      case BF16 -> "bf16";
      case F16, F16_ACCUMULATORS -> "f16";
      case E4M3 -> "e4m3";
      case E5M2 -> "e5m2";
      case TF32 -> "tf32";
      case INT8 -> "s8";
      case F32, UINT8, F64 -> null;
    };
  }

  /** Why so many blocks with so much shared memory each do not fit on an SM. */
  public static @Nullable String sharedProblem(long shared, int blocks, GpuTarget target) {
    long each =
        Math.min(
            target.sharedPerBlock(), target.sharedPerSm() / blocks - target.reservedPerBlock());
    return shared <= each
        ? null
        : String.format(
            Locale.ROOT,
            "%d bytes of shared memory; %d blocks of %s have %d each",
            shared,
            blocks,
            target.name(),
            each);
  }

  private static @Nullable String pairProblem(GemmWorkload workload, HopperConfig config) {
    if (config.clusterM() * config.clusterN() > 1) {
      return "blocks that share the steps of a tile share no copies";
    }
    if (workload.k() <= config.tileK()) {
      return "one step is not for two blocks";
    }
    return workload.precision().accumulators() == DType.F32
        ? null
        : "accumulators in "
            + workload.precision().arithmetic()
            + " are not added up over several blocks";
  }

  private static @Nullable String cluster(GemmWorkload workload, HopperConfig config) {
    long rows = Math.ceilDiv(workload.m(), config.tileM()) * workload.batch().count();
    if (config.blocks() == 0 && rows > MAX_GRID) {
      return String.format(
          Locale.ROOT, "%d rows of tiles, a block each; at most %d", rows, MAX_GRID);
    }
    int size = config.clusterM() * config.clusterN();
    if (size == 1) {
      return null;
    }
    if (transposes(workload, config)) {
      return "operands that threads transpose are not shared by clusters";
    }
    if (config.blocks() % size != 0) {
      return String.format(
          Locale.ROOT, "%d blocks are no multiple of a cluster of %d", config.blocks(), size);
    }
    if (size > MAX_CLUSTER) {
      return "a cluster of " + size + " blocks; at most " + MAX_CLUSTER + " are possible";
    }
    // Tiles stored along K are cut into parts of so many rows, others along K.
    int rowsOfA = workload.layout().transposedA() ? config.tileK() : config.tileM();
    int rowsOfB = workload.layout().transposedB() ? config.tileN() : config.tileK();
    int bytes = workload.operands().bytes();
    int widthOfA = (workload.layout().transposedA() ? config.tileM() : config.tileK()) * bytes;
    int widthOfB = (workload.layout().transposedB() ? config.tileK() : config.tileN()) * bytes;
    if (!isParted(rowsOfA, widthOfA, config.clusterN())
        || !isParted(rowsOfB, widthOfB, config.clusterM())) {
      return String.format(
          Locale.ROOT,
          "tiles of %d and %d rows cannot be shared by clusters of %d x %d",
          rowsOfA,
          rowsOfB,
          config.clusterM(),
          config.clusterN());
    }
    if (workload.batch().isMany()
        && Math.ceilDiv(workload.m(), config.tileM()) % config.clusterM() != 0) {
      return String.format(
          Locale.ROOT,
          "clusters of %d tiles do not divide the tiles of a GEMM of the batch",
          config.clusterM());
    }
    boolean fits =
        Math.ceilDiv(workload.m(), config.tileM()) >= config.clusterM()
            && Math.ceilDiv(workload.n(), config.tileN()) >= config.clusterN();
    return fits ? null : "a cluster of more tiles than there are";
  }

  /** Whether blocks can copy equal parts of a tile's rows, each of which begins at 128 bytes. */
  private static boolean isParted(int rows, int rowBytes, int blocks) {
    int panel = panelBytes(rowBytes);
    return blocks == 1 || rows % blocks == 0 && rows / blocks * panel % COPY_ALIGNMENT == 0;
  }

  /** Bytes of a panel's rows: the most that rows of a tile are a multiple of, up to 128. */
  static int panelBytes(int rowBytes) {
    return Math.min(COPY_ALIGNMENT, Integer.lowestOneBit(rowBytes));
  }

  /** Bytes of shared memory of a block. */
  public static long sharedBytes(GemmWorkload workload, HopperConfig config) {
    int bytes = workload.operands().bytes();
    long stage = (long) (config.tileM() + config.tileN()) * config.tileK() * bytes;
    long barriers = 16L * config.stages();
    // What the other block of a pair sends of the sums of every other warpgroup.
    long exchange =
        config.isPaired()
            ? Math.ceilDiv(config.consumers(), 2)
                * (4L * config.tileM() * config.tileN() / config.consumers())
            : 0;
    // Where a tile has parts, which of them is next.
    long turns = config.isDivided() ? (long) DType.U32.bytes() * config.consumers() : 0;
    return config.stages() * stage + staging(workload, config) + barriers + exchange + turns;
  }

  /** Whether rows of the result are no multiples of what TMA copies write. */
  static boolean isRaggedResult(GemmWorkload workload) {
    int bytes = workload.result().bytes();
    return (workload.ldc() | workload.resultColumns()) * bytes % 16 != 0;
  }

  /** Whether tiles of so many rows can go through shared memory where operands are swapped. */
  static boolean canTranspose(GemmWorkload workload, long rows) {
    return workload.result().bytes() == 2
        && !workload.epilogue().glu()
        && !isRaggedResult(workload)
        && rows % 8 == 0
        && StagedStore.height(rows) >= TRANSPOSED_ROWS;
  }

  private static long staging(GemmWorkload workload, HopperConfig config) {
    int bytes = workload.result().bytes();
    if (config.transposed()) {
      long height = StagedStore.height(config.tileM());
      long count = config.tileM() / height * (config.tileN() / WARPGROUP_ROWS) / config.consumers();
      return Math.min(2, count) * config.consumers() * height * WARPGROUP_ROWS * bytes;
    }
    if (config.swapAb() || config.direct()) {
      return 0;
    }
    int row = Math.toIntExact(workload.epilogue().columns(config.tileN())) * bytes;
    int width = row % 128 == 0 ? 128 : row % 64 == 0 ? 64 : row % 32 == 0 ? 32 : 16;
    int panels = row / width * (config.tileM() / WARPGROUP_ROWS / config.consumers());
    return (long) Math.min(2, panels) * config.consumers() * WARPGROUP_ROWS * width;
  }
}
