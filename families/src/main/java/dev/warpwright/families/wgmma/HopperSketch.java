package dev.warpwright.families.wgmma;

import dev.warpwright.families.Divisions;
import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.GemmTiles;
import dev.warpwright.families.KernelFamily;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.ThreadCopies;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.copy.TransposedCopy;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Features;
import dev.warpwright.space.Rejected;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.WgmmaGemm;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** The decisions of {@link HopperGemm}, asked in an order in which each narrows the next. */
public final class HopperSketch extends GemmSketch<HopperConfig> {
  /** Of the family, as points have it. */
  public static final String NAME = "wgmma";

  public static final KernelFamily FAMILY =
      new KernelFamily(
          (workload, target) ->
              takes(workload, target)
                  && (HopperLimits.operandsProblem(workload) == null || isEmulated(workload))
                  && !HopperLimits.isTransposed(workload),
          HopperSketch::new);

  /**
   * The same where others may be faster: for rows that no TMA copy takes, which threads copy, and
   * for operands that are MN-major and may not be.
   */
  public static final KernelFamily COPYING =
      new KernelFamily(
          (workload, target) ->
              takes(workload, target)
                  && HopperLimits.typeProblem(workload) == null
                  && !FAMILY.supports(workload, target),
          HopperSketch::new);

  /** From so many rows on, there is no swap-AB where whole tiles of the result leave none over. */
  private static final int MANY_ROWS = 1024;

  private static final int WHOLE_ROWS = 128;

  /** So many numbers of tiles have a height that leaves the fewest rows over. */
  private static final int NUMBERS = 8;

  /** Steps of a tile from which on they may be worth sharing. */
  private static final long LEAST_PAIRED = 8;

  /** Of an instruction. */
  private static final int MOST_COLUMNS = 256;

  private static final int WARPGROUP = 128;

  private static final int REGISTER_GRANULE = 8;

  /** What ptxas asks for beside the sums (its message C7602). */
  private static final int OTHER_REGISTERS = 26;

  /** What a consumer needs beside its sums where it adds those of other parts, a few at a time. */
  private static final int DIVIDED_REGISTERS = 48;

  /** What a consumer needs beside all of its sums, where others copy. */
  private static final int CONSUMER_REGISTERS = 40;

  /** What a producer's threads need to shift vectors without spilling: some spill at 56. */
  private static final int VECTOR_REGISTERS = 72;

  /** What a producer keeps at least. */
  private static final int PRODUCER_REGISTERS = 24;

  private final HopperModel model;
  private final long[] heights;
  private final long[] tall;
  private final long[] widths;

  public HopperSketch(GemmWorkload workload, GpuTarget target, int sms) {
    super(workload, target, sms);
    model = new HopperModel(Calibration.of(target));
    heights = heights();
    tall = tall();
    widths = widths();
  }

  @Override
  public String name() {
    return NAME;
  }

  private static boolean takes(GemmWorkload workload, GpuTarget target) {
    return target == GpuTarget.SM_90A && workload.k() > 0;
  }

  /** Whether mma.sync on Hopper is made of conversions and products of f16. */
  private static boolean isEmulated(GemmWorkload workload) {
    return workload.operands().isFloat()
        && workload.operands().bits() == 8
        && HopperLimits.typeProblem(workload) == null;
  }

  @Override
  protected @Nullable String problem(HopperConfig config) {
    return HopperLimits.problem(workload, config);
  }

  @Override
  protected GemmTiles tiles(HopperConfig c) {
    return c.tiles();
  }

  @Override
  protected Features features(HopperConfig config) {
    registers(config);
    return model.features(workload, config, sms);
  }

  @Override
  protected Features features(HopperConfig config, Calibration calibration) {
    return new HopperModel(calibration).features(workload, config, sms);
  }

  @Override
  protected ScheduledGemm schedule(HopperConfig config) {
    return HopperGemm.schedule(workload, config);
  }

  /**
   * Registers are given to a block's threads evenly when it starts, and ptxas compiles for that
   * number, which an instruction's sums and its other operands have to fit. Several consumers get
   * more before they multiply, for all of their sums.
   */
  private void registers(HopperConfig c) {
    int threads = (c.consumers() + 1) * WARPGROUP * c.minBlocks();
    int each = GpuTarget.REGISTERS_PER_SM / threads / REGISTER_GRANULE * REGISTER_GRANULE;
    int sums = Math.toIntExact(HopperLimits.accumulatorRegisters(workload, c));
    int columns = c.swapAb() ? c.tileM() : c.tileN();
    int instruction = columns / 2 * workload.precision().accumulators().bytes() / 4;
    int consumer =
        c.consumers() == 1
            ? each
            : (each * (c.consumers() + 1) - PRODUCER_REGISTERS) / c.consumers();
    boolean divided = !(c.division() instanceof WorkDivision.Whole);
    int held = HopperLimits.heldRegisters(workload, c);
    int others =
        held
            + (divided
                ? DIVIDED_REGISTERS
                : c.consumers() == 1 ? OTHER_REGISTERS : CONSUMER_REGISTERS);
    if (instruction + held + OTHER_REGISTERS > each || sums + others > consumer) {
      throw new Rejected(
          "registers",
          sums
              + " accumulators, "
              + instruction
              + " of an instruction, and "
              + others
              + " other registers; a thread has "
              + each
              + ", and may get "
              + consumer);
    }
    int copying = HopperLimits.copyingRegisters(workload, c);
    long piece = TransposedCopy.registers(1, ThreadCopies.CHUNK / workload.operands().bytes());
    if (HopperLimits.transposes(workload, c) && !TransposedCopy.fit(piece, copying)) {
      throw new Rejected(
          "registers of copies",
          "tiles are transposed in " + copying + " registers, " + piece + " of them for a piece");
    }
    if (c.vectors() && copying < VECTOR_REGISTERS) {
      throw new Rejected(
          "registers of vectors",
          "aligned vectors are shifted in "
              + copying
              + " registers; they need "
              + VECTOR_REGISTERS);
    }
  }

  @Override
  protected HopperConfig config(Decisions d) {
    boolean held =
        HopperLimits.canBeHeld(workload)
            && d.choose("mnMajor", List.of("transposed", "registers")).equals("registers");
    boolean swapAb =
        held && workload.layout() != GemmWorkload.Layout.TN
            ? workload.layout() == GemmWorkload.Layout.NN
            : (held || mayBeSwapped()) && d.choose("swapped");
    int rows;
    int columns;
    int consumers;
    if (swapAb) {
      // The product's rows are columns of the result.
      columns = number(d, "tileM", heights);
      rows = number(d, "tileN", 64, 128, 192, 256);
      consumers = held ? rows / WgmmaGemm.ROWS : consumers(d, rows);
    } else {
      rows = number(d, "tileM", tall);
      consumers = held ? rows / WgmmaGemm.ROWS : consumers(d, rows);
      columns = number(d, "tileN", widths);
    }
    int tileM = swapAb ? columns : rows;
    int tileN = swapAb ? rows : columns;
    int bytes = workload.operands().bytes();
    int tileK = number(d, "tileK", 128 / bytes, 256 / bytes);
    int minBlocks = number(d, "minBlocks", 1, 2);
    int stages = stages(d, tileM, tileN, tileK, minBlocks);
    boolean shares =
        isTma()
            && (!HopperLimits.isTransposed(workload)
                || held && workload.layout() != GemmWorkload.Layout.TN);
    List<String> clusters = shares ? clusters(tileM, tileN) : List.of("1x1");
    int[] cluster = cluster(d.choose("cluster", clusters));
    // Older records of clusters are of persistent ones.
    boolean persistent =
        size(cluster) > 1
            ? d.choose("persistent", List.of("yes", "no")).equals("yes")
            : d.choose("persistent");
    int blocks = persistent ? blocks(d, minBlocks, size(cluster)) : 0;
    BlockOrder order =
        persistent
            ? BlockOrder.parse(d.choose("order", orders(tileM, tileN, cluster)))
            : new BlockOrder.Row();
    HopperConfig tiled =
        new HopperConfig(
            tileM,
            tileN,
            tileK,
            stages,
            consumers,
            cluster[0],
            cluster[1],
            order,
            blocks,
            minBlocks,
            swapAb);
    HopperConfig moved = held ? tiled.holding() : tiled;
    HopperConfig copied = ThreadCopies.isByVectors(d, workload) ? moved.withVectors() : moved;
    boolean few = tiled.isOfFewRows();
    HopperConfig whole =
        few || isDirect(d, swapAb, tileN)
            ? copied.fromRegisters()
            : isTransposed(d, swapAb, tileM) ? copied.transposing() : copied;
    if (blocks == 0) {
      return !few && isPaired(d, whole) ? whole.withDivision(new WorkDivision.Parts(2)) : whole;
    }
    List<String> divisions =
        Divisions.of(
            workload.batch().count()
                * Math.ceilDiv(workload.m(), (long) tileM * cluster[0])
                * Math.ceilDiv(workload.n(), (long) tileN * cluster[1]),
            Math.ceilDiv(workload.k(), tileK),
            blocks / size(cluster));
    return few || divisions.size() == 1 || workload.precision() == Precision.F16_ACCUMULATORS
        ? whole
        : whole.withDivision(WorkDivision.parse(d.choose("division", divisions)));
  }

  /** Whether two blocks of a cluster share a tile's steps: where tiles are few and K is long. */
  private boolean isPaired(Decisions d, HopperConfig c) {
    long tiles =
        workload.batch().count()
            * Math.ceilDiv(workload.m(), c.tileM())
            * Math.ceilDiv(workload.n(), c.tileN());
    return c.clusterM() * c.clusterN() == 1
        && tiles <= (long) sms * c.minBlocks()
        && workload.k() >= LEAST_PAIRED * c.tileK()
        && workload.precision().accumulators() == DType.F32
        && d.choose("division", List.of("whole", "parts:2")).equals("parts:2");
  }

  /**
   * Blocks that run at the same time. SMs come in groups whose sizes are even but no multiples of
   * more: some are left over by clusters of 4.
   */
  private int blocks(Decisions d, int minBlocks, int cluster) {
    if (cluster <= 2) {
      return sms * minBlocks / cluster * cluster;
    }
    int few = GemmTiles.used(sms, cluster);
    int fewer = Math.max(1, few - GemmTiles.GROUP);
    return number(d, "resident", few, fewer) * minBlocks / cluster * cluster;
  }

  private static int size(int[] cluster) {
    return cluster[0] * cluster[1];
  }

  private int consumers(Decisions d, int rows) {
    return Math.toIntExact(
        switch (rows) {
          case 16, 32, 48, 64 -> 1;
          case 128 -> d.choose("consumers", 1, 2);
          case 192 -> 3;
          default -> d.choose("consumers", 2, 4);
        });
  }

  private boolean isOfBytes() {
    return workload.operands() == DType.I8;
  }

  /**
   * Heights of tiles for few rows: no more than twice what there is, and those of which so many
   * leave the fewest rows over.
   */
  private long[] heights() {
    int granule = workload.layout().transposedA() && workload.operands().bytes() < 4 ? 16 : 8;
    long fewest = Math.ceilDiv(workload.m(), MOST_COLUMNS);
    return LongStream.concat(
            LongStream.of(8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 192, 256),
            LongStream.range(fewest, fewest + NUMBERS)
                .map(tiles -> height(Math.ceilDiv(workload.m(), tiles), granule))
                .filter(t -> t >= WgmmaGemm.ROWS && t <= MOST_COLUMNS))
        .filter(t -> !isOfBytes() || t <= 32 || t % 16 == 0)
        .filter(t -> t % granule == 0 && t < 2 * Math.max(workload.m(), granule))
        .sorted()
        .distinct()
        .toArray();
  }

  /** The least height of so many rows and more whose results can go through shared memory. */
  private long height(long rows, int granule) {
    long height = Math.ceilDiv(rows, granule) * granule;
    boolean any = HopperLimits.canTranspose(workload, WgmmaGemm.ROWS);
    while (any && height <= MOST_COLUMNS && !HopperLimits.canTranspose(workload, height)) {
      height += granule;
    }
    return height;
  }

  private boolean mayBeSwapped() {
    return workload.m() <= MANY_ROWS || workload.m() % WHOLE_ROWS != 0;
  }

  private boolean mayBeOfFewRows() {
    return workload.m() <= WgmmaGemm.ROWS - HopperLimits.MIN_ROWS
        && HopperLimits.takesFewRows(workload);
  }

  /**
   * Heights of tiles whose rows are an instruction's; last one of fewer rows, whose width may fill
   * up the SMs.
   */
  private long[] tall() {
    int least = HopperLimits.MIN_ROWS;
    return mayBeOfFewRows()
        ? new long[] {64, 128, 192, 256, Math.ceilDiv(workload.m(), least) * least}
        : new long[] {64, 128, 192, 256};
  }

  /**
   * Widths of tiles. Those that are odd multiples of 8 may fill the last wave, and give each SM an
   * equal share of weights for few rows; operands stored along columns cannot have them, nor can
   * bytes.
   */
  private long[] widths() {
    boolean alongColumns =
        !workload.layout().transposedB() && workload.operands().bytes() < 4
            || isOfBytes()
            || workload.epilogue().glu();
    int narrow = mayBeOfFewRows() ? 0 : WgmmaGemm.ROWS;
    long[] options =
        LongStream.iterate(16, t -> t <= 256, t -> t + 8)
            .filter(t -> t < workload.n() + 64)
            .filter(t -> t % 16 == 0 || (t > narrow && !alongColumns))
            .toArray();
    return options.length == 0 ? new long[] {16} : options;
  }

  /** Whether results leave from registers: bulk stores of narrow panels are no faster. */
  private boolean isDirect(Decisions d, boolean swapAb, int tileN) {
    if (swapAb) {
      return false;
    }
    int bytes = workload.result().bytes();
    // Records of ragged results that do not say it are of stores from registers.
    List<String> ways =
        HopperLimits.isRaggedResult(workload)
            ? List.of("direct", "rows")
            : List.of("shared", "direct");
    return workload.epilogue().columns(tileN) * bytes % HopperModel.SECTOR != 0
        || d.choose("store", ways).equals("direct");
  }

  /** Whether results of swapped operands go through shared memory: those of many rows may. */
  private boolean isTransposed(Decisions d, boolean swapAb, int tileM) {
    return swapAb
        && tileM >= WgmmaGemm.ROWS
        && HopperLimits.canTranspose(workload, tileM)
        && d.choose("store", List.of("direct", "shared")).equals("shared");
  }

  private int stages(Decisions d, int tileM, int tileN, int tileK, int minBlocks) {
    List<Long> possible = new ArrayList<>();
    for (long stages = 2; stages <= 12; stages++) {
      long bytes = stages * (tileM + tileN) * tileK * workload.operands().bytes() + 32 * stages;
      if (bytes <= GpuTarget.SM_90A.sharedPerBlock() / minBlocks) {
        possible.add(stages);
      }
    }
    if (possible.isEmpty()) {
      throw new Rejected(
          "shared memory",
          "two stages of " + tileM + " x " + tileN + " x " + tileK + " do not fit");
    }
    // Fewer stages than fit are rarely better: the greatest five, the greatest first.
    return Math.toIntExact(
        d.choose(
            "stages", possible.reversed().stream().limit(5).mapToLong(Long::longValue).toArray()));
  }

  /** Whether TMA copies can move the operands; otherwise blocks of a cluster share nothing. */
  private boolean isTma() {
    return HopperLimits.operandsProblem(workload) == null;
  }

  private List<String> clusters(int tileM, int tileN) {
    List<String> shapes = new ArrayList<>(List.of("1x1"));
    if (workload.m() > tileM) {
      shapes.add("2x1");
    }
    if (workload.n() > tileN) {
      shapes.add("1x2");
    }
    if (workload.m() > tileM && workload.n() > tileN) {
      shapes.add("2x2");
    }
    if (workload.m() > 3L * tileM) {
      shapes.add("4x1");
    }
    if (workload.n() > 3L * tileN) {
      shapes.add("1x4");
    }
    // Copies of ragged rows are so slow that sharing them is worth large clusters.
    if (HopperModel.isRagged(workload) && workload.m() > tileM && workload.n() > tileN) {
      if (workload.m() > 3L * tileM) {
        shapes.add("4x2");
      }
      if (workload.n() > 3L * tileN) {
        shapes.add("2x4");
      }
      if (workload.m() > 7L * tileM) {
        shapes.add("8x1");
      }
      if (workload.n() > 7L * tileN) {
        shapes.add("1x8");
      }
    }
    return shapes;
  }

  private static int[] cluster(String shape) {
    return new int[] {shape.charAt(0) - '0', shape.charAt(2) - '0'};
  }

  /** Orders that differ on the grid of clusters. */
  private List<String> orders(int tileM, int tileN, int[] cluster) {
    long rows = workload.batch().count() * Math.ceilDiv(workload.m(), (long) tileM * cluster[0]);
    long columns = Math.ceilDiv(workload.n(), (long) tileN * cluster[1]);
    if (rows == 1 || columns == 1 || rows * columns <= sms) {
      return List.of("row");
    }
    List<String> orders = new ArrayList<>(List.of("row", "column", "serpentine", "hilbert"));
    for (int group : new int[] {2, 4, 8, 16, 32}) {
      if (group < rows) {
        orders.add("grouped:" + group);
      }
    }
    return orders;
  }
}
