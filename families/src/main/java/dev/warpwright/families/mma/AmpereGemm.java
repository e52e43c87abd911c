package dev.warpwright.families.mma;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.StagedGemm;
import dev.warpwright.families.ThreadCopies;
import dev.warpwright.families.wgmma.HopperLimits;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Products by {@code mma.sync} for Turing and newer, of any size and alignment: asynchronous copies
 * into a ring of stages where rows are aligned to 4 bytes at least and the target has them,
 * otherwise through registers; operands read ahead from swizzled tiles, by ldmatrix or, where they
 * lie across K in elements of 1 or 4 bytes, one by one.
 */
public final class AmpereGemm {
  /** Registers beside sums and operands: addresses and counters. */
  private static final int OTHER_REGISTERS = 24;

  /** Registers of a block's share of streamed work: its list's entries live across the loops. */
  private static final int STREAM_REGISTERS = 40;

  /** Of products of 8-bit floats on Hopper, which are conversions and products of f16. */
  private static final int EMULATION_REGISTERS = 68;

  /** In which bytes of a left operand are put together that lies across K; with emulation less. */
  private static final int LEFT_BYTES_REGISTERS = 92;

  private static final int LEFT_EMULATED_REGISTERS = 56;

  /** The same of a right operand. */
  private static final int RIGHT_BYTES_REGISTERS = 20;

  /** Bytes of the smallest asynchronous copy. */
  private static final int LEAST_COPY = 4;

  private AmpereGemm() {}

  /** One line that says why operands of this kind are not for mma.sync; null if they are. */
  public static @Nullable String operandsProblem(GemmWorkload workload, GpuTarget target) {
    if (workload.isStrided()) {
      return "rows must follow each other";
    }
    if (instruction(workload, target) == null) {
      return String.format(
          Locale.ROOT,
          "mma.sync of %s, accumulators in %s, does not exist on %s",
          workload.operands(),
          workload.precision().arithmetic(),
          target.name());
    }
    return null;
  }

  /** One line that says why a configuration is impossible; null if nothing is known against it. */
  public static @Nullable String problem(
      GemmWorkload workload, AmpereConfig config, GpuTarget target) {
    String operands = operandsProblem(workload, target);
    if (operands != null) {
      return operands;
    }
    int bytes = workload.operands().bytes();
    int rows = config.swapAb() ? config.tileN() : config.tileM();
    int columns = config.swapAb() ? config.tileM() : config.tileN();
    if (config.warpsM() < 1 || config.warpsN() < 1 || config.threads() > 512) {
      return String.format(Locale.ROOT, "%d x %d warps", config.warpsM(), config.warpsN());
    }
    if (rows < 1 || rows % (16 * config.warpsM()) != 0) {
      return String.format(
          Locale.ROOT, "%d rows over %d warps are no multiples of 16", rows, config.warpsM());
    }
    if (columns < 1 || columns % (16 * config.warpsN()) != 0) {
      return String.format(
          Locale.ROOT, "%d columns over %d warps are no multiples of 16", columns, config.warpsN());
    }
    if (config.tileK() < 1 || config.tileK() * bytes % 64 != 0) {
      return String.format(
          Locale.ROOT, "a step of %d elements of K is no multiple of 64 bytes", config.tileK());
    }
    if (config.isDivided() && workload.precision().accumulators() != DType.F32) {
      return "accumulators in "
          + workload.precision().arithmetic()
          + " are not added up over several blocks";
    }
    if (config.division() instanceof WorkDivision.Stream && config.blocks() == 0) {
      return String.format(
          Locale.ROOT, "work divided as %s needs a number of blocks", config.division().text());
    }
    if (config.stages() < 2 || config.minBlocks() < 1) {
      return config.stages() + " stages, " + config.minBlocks() + " blocks: 2 and 1 at least";
    }
    int rowA = workload.layout().transposedA() ? config.tileM() : config.tileK();
    int rowB = workload.layout().transposedB() ? config.tileK() : config.tileN();
    if (isScattered(workload, workload.lda(), rowA, config)
        || isScattered(workload, workload.ldb(), rowB, config)) {
      return String.format(
          Locale.ROOT,
          "%d threads that copy rows of %d and %d elements one by one: each has another address",
          config.threads(),
          rowA,
          rowB);
    }
    long sums =
        (long) rows * columns * workload.precision().accumulators().bytes() / 4 / config.threads();
    // Operands are there twice: four registers for 16 rows, two for 8 columns.
    long registers =
        sums
            + rows / config.warpsM() / 2
            + columns / config.warpsN() / 2
            + OTHER_REGISTERS
            + conversionRegisters(workload, config, target)
            + staged(workload, workload.lda(), config.tileM(), config)
            + staged(workload, workload.ldb(), config.tileN(), config)
            + (config.division() instanceof WorkDivision.Stream ? STREAM_REGISTERS : 0);
    if (registers > GpuTarget.registersOfThread(config.threads() * config.minBlocks())) {
      return String.format(
          Locale.ROOT,
          "about %d registers of each of %d threads in %d blocks",
          registers,
          config.threads(),
          config.minBlocks());
    }
    return HopperLimits.sharedProblem(sharedBytes(workload, config), config.minBlocks(), target);
  }

  /** Registers for operands of bytes, fitted to what compiles without spilling. */
  private static long conversionRegisters(
      GemmWorkload workload, AmpereConfig config, GpuTarget target) {
    if (workload.operands().bytes() != 1) {
      return 0;
    }
    boolean emulated = target.hasHopper() && workload.operands().isFloat();
    return (emulated ? EMULATION_REGISTERS : 0)
        + (config.acrossLeft(workload.layout())
            ? emulated ? LEFT_EMULATED_REGISTERS : LEFT_BYTES_REGISTERS
            : 0)
        + (config.acrossRight(workload.layout()) ? RIGHT_BYTES_REGISTERS : 0);
  }

  /** Bytes of shared memory of a block; where a tile has parts, also which of them is next. */
  static long sharedBytes(GemmWorkload workload, AmpereConfig config) {
    int bytes = workload.operands().bytes();
    long stage = (long) (config.tileM() + config.tileN()) * config.tileK() * bytes;
    return config.stages() * stage + (config.isDivided() ? DType.U32.bytes() : 0);
  }

  /** Whether rows so many elements apart allow no asynchronous copies. */
  private static boolean isOneByOne(GemmWorkload workload, long pitch) {
    return pitch * workload.operands().bytes() % LEAST_COPY != 0;
  }

  /**
   * Whether elements come one by one, and threads go on from one to the next not in whole rows: for
   * each one then registers hold where it is, and kernels spill.
   *
   * @param row elements of a tile's row in memory
   */
  private static boolean isScattered(
      GemmWorkload workload, long pitch, int row, AmpereConfig config) {
    return isOneByOne(workload, pitch)
        && !config.vectors()
        && config.threads() % row != 0
        && row % config.threads() != 0;
  }

  /** Registers of a thread in which elements wait whose rows allow no asynchronous copies. */
  private static long staged(GemmWorkload workload, long pitch, int rows, AmpereConfig config) {
    if (!isOneByOne(workload, pitch)) {
      return 0;
    }
    int bytes = workload.operands().bytes();
    long elements = Math.ceilDiv((long) rows * config.tileK(), config.threads());
    // Two vectors of 4 registers for 16 bytes.
    return config.vectors() ? Math.ceilDiv(elements * bytes, 16) * 8 : elements;
  }

  /**
   * Schedules and lowers.
   *
   * @throws UserError if the configuration does not fit the workload or the target
   */
  public static ScheduledGemm schedule(
      GemmWorkload workload, AmpereConfig config, GpuTarget target) {
    String problem = problem(workload, config, target);
    if (problem != null) {
      throw new UserError(problem);
    }
    PrimFunc func = workload.func(config.swapAb());
    Schedule s = new Schedule(func);
    StagedGemm product =
        StagedGemm.of(s, workload, config.tileM(), config.tileN(), config.tileK(), config.stages());
    share(s, s.blockOrder(product.rows(), product.columns(), config.order()), config);
    describe(s, workload, config, target);
    if (config.vectors()) {
      s.annotate("copy", ThreadCopies.VECTORS);
    }
    workload.description().forEach(s::annotate);
    product.tensorize(s, product(workload, config, target));
    Kernel kernel = Lowering.lower(s.func(), target);
    return new ScheduledGemm(
        func,
        s.trace(),
        s.func(),
        kernel,
        ScheduledGemm.hasTable(kernel) ? table(workload, config) : List.of());
  }

  /** Lets a schedule's program say which blocks of threads it is for. */
  public static void describe(
      Schedule s, GemmWorkload workload, AmpereConfig config, GpuTarget target) {
    s.annotate("threads", (long) config.threads());
    s.annotate("minBlocks", (long) config.minBlocks());
    s.annotate("async", target.hasAmpere() ? 1L : 0L);
    GpuTarget least =
        workload.operands().bits() == 8 && workload.operands().isFloat()
            ? GpuTarget.SM_89
            : GpuTarget.SM_80;
    s.annotate("arch", target.hasHopper() ? least.name() : target.name());
  }

  /** Attributes of the product's tile statement. */
  public static Attrs product(GemmWorkload workload, AmpereConfig config, GpuTarget target) {
    return Attrs.NONE
        .with("instr", String.valueOf(instruction(workload, target)))
        .with("warpsM", config.warpsM())
        .with("warpsN", config.warpsN());
  }

  private static List<Integer> table(GemmWorkload workload, AmpereConfig config) {
    long rows = workload.batch().count() * Math.ceilDiv(workload.m(), config.tileM());
    long columns = Math.ceilDiv(workload.n(), config.tileN());
    long parts = config.division() instanceof WorkDivision.Parts p ? p.parts() : 1;
    return ScheduledGemm.table(
        config.order(),
        config.division(),
        rows,
        columns,
        Math.ceilDiv(workload.k(), config.tileK()),
        config.blocks() == 0 ? rows * columns * parts : config.blocks());
  }

  /** Shares the tiles out to blocks. */
  private static void share(Schedule s, LoopRef tiles, AmpereConfig config) {
    if (config.isDivided()) {
      s.annotate(tiles, "division", config.division().text());
    }
    if (config.blocks() == 0) {
      s.bind(tiles, ThreadAxis.BLOCK_X);
    } else {
      s.persistent(tiles, config.blocks());
    }
  }

  private static @Nullable String instruction(GemmWorkload workload, GpuTarget target) {
    boolean ampere = target.hasAmpere();
    boolean ada = target.supports(GpuTarget.SM_89.arch(), false);
    return switch (workload.precision()) {
      case F16 -> ampere ? "mma.m16n8k16.f32.f16" : "mma.m16n8k8.f32.f16";
      case BF16 -> ampere ? "mma.m16n8k16.f32.bf16" : null;
      case E4M3 -> ada ? "mma.m16n8k32.f32.e4m3" : null;
      case E5M2 -> ada ? "mma.m16n8k32.f32.e5m2" : null;
      case TF32 -> ampere ? "mma.m16n8k8.f32.tf32" : null;
      case INT8 -> ampere ? "mma.m16n8k32.s32.s8" : null;
      case F16_ACCUMULATORS -> ampere ? "mma.m16n8k16.f16.f16" : "mma.m16n8k8.f16.f16";
      case F32, UINT8, F64 -> null;
    };
  }
}
