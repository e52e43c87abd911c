package dev.warpwright.networks.registers;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.model.function.NetworkFunction.Update;
import dev.warpwright.networks.stages.FormulaReads;
import dev.warpwright.networks.stages.Partition;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.networks.stages.StageReads;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.tensor.Approximations;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How a network is carried through the registers of warpgroups.
 *
 * @param consumers warpgroups of a block, each with rows of its own
 * @param weights which of them stay in shared memory, and how the others flow through it
 * @param prefetch whether the next rows are read while these are computed
 * @param columns of accumulators that are in registers at a time
 * @param parts by accumulators of which a part is there at a time, its columns
 * @param blocks of the grid
 * @param stagesResults whether results whose rows fill no vectors leave through shared memory
 */
public record ChainTiling(
    int consumers,
    StagedWeights weights,
    boolean prefetch,
    long columns,
    java.util.Map<Buffer, Long> parts,
    int blocks,
    boolean stagesResults) {
  private static final long MOST_COLUMNS = 256;

  /** Each has code of its own; of more, code is what a kernel waits for, and compilers too. */
  private static final int MOST_LAYERS = 128;

  /** 32-bit registers that addresses and what is under way need. */
  private static final int OTHER_REGISTERS = 16;

  /** More where positions in rings are counted, too. */
  private static final int STREAM_REGISTERS = 20;

  /** Registers of a thread with which ptxas has a choice, where weights flow by. */
  private static final int ROOM = 8;

  /** More where a formula calls functions. */
  private static final int FUNCTION_REGISTERS = 16;

  /** More where columns come part by part. */
  private static final int PARTS_REGISTERS = 8;

  /** Accumulators beside which ptxas holds what is added to them for longer. */
  private static final int WIDE = 128;

  /** More where accumulators are rounded to tf32: nothing shrinks by that. */
  private static final int ROUNDING_REGISTERS = 12;

  /** More where rows are reduced: what lanes exchange, and formulas of all columns at once. */
  private static final int REDUCING_REGISTERS = 12;

  private static final int MOST_CONSUMERS = 6;
  private static final int CONSUMERS_FOR_MEMORY = 4;

  /** A block has 1024 threads. */
  private static final int MOST_WARPGROUPS = 8;

  private static final int ROWS = RegisterChain.ROWS;

  /** Of an SM's tensor cores. */
  private static final int MACS_PER_CYCLE = 2048;

  /** Of memory, for each SM: 4.8 TB/s, 132 of them, 1.7 GHz. */
  private static final double BYTES_PER_CYCLE = 21;

  /** From a layer's last product to the next layer's first: the wait, packing, and the fence. */
  private static final int LAYER_CYCLES = 180;

  private static final int MOST_REGISTERS = 240;
  private static final int WARPGROUP = 128;
  private static final int WARP = 32;

  /** Columns of accumulators at a time: all that a product can have without spilling, or less. */
  private static final long[] COLUMNS = {192, 128, 64};

  /** Why a network cannot be carried so; empty if nothing is known to be in the way. */
  public static String refusal(StageGroup group, GpuTarget target) {
    if (!target.hasHopper()) {
      return target.name() + " has no GEMMs with operands in registers of a warpgroup";
    }
    if (group.products().stream().anyMatch(ChainTiling::isTf32)) {
      String tf32 = refusalOfTf32(group);
      if (!tf32.isEmpty()) {
        return tf32;
      }
    }
    return refusal(group, true);
  }

  /**
   * Why registers do not carry operands in tf32: a thread has other columns of them than of
   * accumulators, so a formula may read these or those.
   */
  private static String refusalOfTf32(StageGroup group) {
    Set<Buffer> sums = new HashSet<>();
    for (Matmul product : group.products()) {
      sums.add(product.accumulator());
      if (product.n() > COLUMNS[0]) {
        return product.block() + " is wider than the " + COLUMNS[0] + " columns of tf32";
      }
    }
    Set<Buffer> rows = new HashSet<>();
    for (Stage stage : group.stages()) {
      if (stage instanceof Reduction) {
        return stage.block() + " needs other columns than its own, which tf32 places otherwise";
      }
      if (stage instanceof Load || stage instanceof Map) {
        rows.add(Partition.written(stage));
      }
    }
    StageReads reads = StageReads.of(group.func());
    for (Stage stage : group.stages()) {
      if (stage instanceof Map map
          && reads.by(map.block()).stream().anyMatch(rows::contains)
          && reads.by(map.block()).stream().anyMatch(sums::contains)) {
        return map.block() + " adds to a GEMM in tf32 what is an operand of another one";
      }
    }
    return "";
  }

  /** Of few inputs, or with weights stored as [K, N], operands stay f32. */
  private static boolean isTf32(Matmul product) {
    return product.weight().dtype() == DType.F32 && product.transposed() && !product.exact();
  }

  /**
   * Why no registers carry a network, whatever the instruction.
   *
   * @param tf32 whether there is one that takes f32
   */
  public static String refusal(StageGroup group, boolean tf32) {
    if (group.products().isEmpty()) {
      return "it has no GEMMs";
    }
    if (group.products().size() > MOST_LAYERS) {
      return "its "
          + group.products().size()
          + " GEMMs are more than the "
          + MOST_LAYERS
          + " that are written one after the other";
    }
    for (Matmul product : group.products()) {
      DType type = product.weight().dtype();
      boolean taken = type.bytes() == 2 || tf32 && isTf32(product);
      if (product.exact() || !product.transposed() || !taken) {
        return product.block() + " is no GEMM of 16-bit operands" + (tf32 ? " or in tf32" : "");
      }
      if (product.n() > MOST_COLUMNS || product.k() > MOST_COLUMNS) {
        return product.block()
            + " is wider than the "
            + MOST_COLUMNS
            + " columns that registers hold";
      }
    }
    if (!(group.stages().getLast() instanceof Store)
        || group.stages().stream().anyMatch(Update.class::isInstance)) {
      return "it changes what its caller gave";
    }
    if (group.writes().size() > MOST_LAYERS) {
      return group.writes().size() + " results are too many for one kernel";
    }
    StageReads reads = StageReads.of(group.func());
    for (Stage stage : group.stages()) {
      if (stage instanceof Map map && !map.pointwise()) {
        return stage.block() + " needs other columns than its own";
      }
      if (stage instanceof Map
          && reads.by(stage.block()).stream().noneMatch(read -> read.rank() == 2)) {
        return stage.block() + " is one number for each row";
      }
    }
    return "";
  }

  /**
   * What registers and shared memory allow: whole columns first, rows that are read ahead before
   * others, as many warpgroups as there may be before fewer, and what hardly leaves a register
   * last. That tells sizes apart which are expected to take alike. A network that waits for memory
   * does so best with four, each of which has its next rows under way
   * (docs/benchmarks/2026-11-23-networks.md), and with more where it has many small layers.
   *
   * @param blocks of the grid
   * @param memory whether its rows take longer to move than to compute, so that more warpgroups may
   *     have rows under way
   */
  public static List<ChainTiling> candidates(
      StageGroup group, GpuTarget target, int blocks, boolean memory) {
    List<ChainTiling> all = new ArrayList<>();
    List<ChainTiling> tight = new ArrayList<>();
    Set<java.util.Map<Buffer, Long>> tried = new HashSet<>();
    for (long columns : COLUMNS) {
      java.util.Map<Buffer, Long> parts = ColumnParts.columns(group, columns);
      if (tried.add(parts)) {
        List<StagedWeights> staged =
            StagedWeights.candidates(
                group.products(),
                target,
                resultBytes(group, most(group, parts, memory)),
                product -> part(product, parts));
        for (StagedWeights weights : staged) {
          for (ChainTiling tiling :
              ofColumns(group, target, weights, blocks, memory, columns, parts)) {
            (tiling.isTight(group) ? tight : all).add(tiling);
          }
        }
      }
      if (group.products().stream().anyMatch(ChainTiling::isTf32)) {
        // Elements of a part would have to change their places in the whole fragment.
        break;
      }
    }
    all.addAll(tight);
    return all;
  }

  /**
   * Whether weights flow by, and hardly a register is left beside what must be there. ptxas then
   * has no choice in what it keeps where, and wide parts have fewer slices under way (256 columns:
   * 817 µs by 128, 794 by 64).
   */
  boolean isTight(StageGroup group) {
    boolean narrowest = columns == COLUMNS[COLUMNS.length - 1];
    if (narrowest || group.products().stream().noneMatch(weights::flows)) {
      return false;
    }
    long most =
        group.products().stream().mapToLong(product -> registers(product, parts)).max().orElse(0);
    return registers(consumers, true) - most - STREAM_REGISTERS < ROOM;
  }

  /** Bytes through which results of so many warpgroups leave. */
  private static long resultBytes(StageGroup group, int consumers) {
    return StoredResults.bytesOfWarp(group) * WARPGROUP / WARP * consumers;
  }

  /** Warpgroups that registers allow, at most. */
  private static int most(StageGroup group, java.util.Map<Buffer, Long> parts, boolean memory) {
    int consumers = memory ? Math.max(MOST_CONSUMERS, forMemory(group)) : MOST_CONSUMERS;
    while (consumers > 1 && registers(consumers, false) < registers(group, parts)) {
      consumers--;
    }
    return consumers;
  }

  /** Registers of a thread that products and formulas take. */
  private static long registers(StageGroup group, java.util.Map<Buffer, Long> parts) {
    long most = 0;
    List<Long> beside = group.columnsBeside();
    for (int i = 0; i < beside.size(); i++) {
      long kept = beside.get(i) / 2;
      switch (group.stages().get(i)) {
        case Matmul product -> most = Math.max(most, kept + registers(product, parts));
        case Map map -> most = Math.max(most, kept + registers(group, map, parts));
        case Load _, Reduction _, Store _, Update _ -> {}
      }
    }
    return most + (group.reduces() ? REDUCING_REGISTERS : 0);
  }

  /** Registers of a thread that the next rows take. */
  private static long ahead(StageGroup group) {
    long ahead = 0;
    for (Stage stage : group.stages()) {
      ahead += stage instanceof Load l ? operand(l.to().extent(1), l.to().dtype()) : 0;
    }
    return ahead;
  }

  /** Those with so many columns of accumulators at a time. */
  private static List<ChainTiling> ofColumns(
      StageGroup group,
      GpuTarget target,
      StagedWeights weights,
      int blocks,
      boolean memory,
      long columns,
      java.util.Map<Buffer, Long> parts) {
    boolean streams = weights.stream();
    int wanted = memory && !streams ? forMemory(group) : CONSUMERS_FOR_MEMORY;
    long least = registers(group, parts) + (streams ? STREAM_REGISTERS : 0);
    List<ChainTiling> candidates = new ArrayList<>();
    // Of rows on their way around a sine's path for large angles, ptxas lets wgmma wait (C7520).
    boolean branches = Approximations.leaveSines(group.func().body());
    for (boolean prefetch : branches ? new boolean[] {false} : new boolean[] {true, false}) {
      long each = least + (prefetch ? ahead(group) : 0);
      for (int consumers = Math.max(MOST_CONSUMERS, wanted); consumers >= 1; consumers--) {
        if (registers(consumers, streams) >= each) {
          long bytes = resultBytes(group, consumers);
          boolean stages =
              bytes > 0 && (streams || StagedWeights.fit(group.products(), target, bytes));
          candidates.add(
              new ChainTiling(consumers, weights, prefetch, columns, parts, blocks, stages));
        }
      }
    }
    if (memory) {
      candidates.sort(
          Comparator.comparing((ChainTiling t) -> !t.prefetch())
              .thenComparing(t -> Math.abs(t.consumers() - wanted)));
    }
    return candidates;
  }

  /**
   * Warpgroups of a network that waits for memory: four, or as many as it takes to get through all
   * layers in the time in which a tile's rows move. A layer of few columns is over before the next
   * one's operand is packed, so with four the tensor cores wait (12 layers of 32 columns: 46 µs,
   * which is 12 times 180 cycles, through four).
   */
  private static int forMemory(StageGroup group) {
    double bytes = 0;
    double products = 0;
    double latency = 0;
    for (Stage stage : group.stages()) {
      switch (stage) {
        case Load load -> bytes += load.from().extent(1) * load.from().dtype().bytes();
        case Store store -> bytes += store.to().extent(1) * store.to().dtype().bytes();
        case Matmul product -> {
          double rate = isTf32(product) ? MACS_PER_CYCLE / 2.0 : MACS_PER_CYCLE;
          double cycles = product.n() * product.k() / rate * ROWS;
          products += cycles;
          latency += cycles + LAYER_CYCLES;
        }
        case Map _, Reduction _, Update _ -> {}
      }
    }
    double tile = Math.max(products, bytes * ROWS / BYTES_PER_CYCLE);
    return Math.clamp(Math.round(latency / tile), CONSUMERS_FOR_MEMORY, MOST_WARPGROUPS);
  }

  /**
   * Registers of a thread that a product takes: accumulators, its operand, and, of a layer whose
   * columns come part by part, the next product's.
   */
  private static long registers(Matmul product, java.util.Map<Buffer, Long> parts) {
    long part = part(product, parts);
    long next = part < product.n() ? product.n() / 4 + PARTS_REGISTERS : 0;
    return operand(part, product.accumulator().dtype())
        + operand(product.k(), product.weight().dtype())
        + next
        + OTHER_REGISTERS
        + (isTf32(product) ? ROUNDING_REGISTERS : 0);
  }

  /** Registers of a thread that so many columns take. */
  private static long operand(long columns, DType type) {
    return columns * type.bytes() / 8;
  }

  /**
   * Registers of a thread that a formula takes: accumulators or what it makes, and what it reads of
   * rows. Found by what spilled and what did not.
   */
  private static long registers(StageGroup group, Map map, java.util.Map<Buffer, Long> parts) {
    long columns = map.to().extent(1);
    long whole = 0;
    Buffer split = split(group, map, parts);
    if (split != null) {
      whole = columns / 4;
      for (Matmul product : group.products()) {
        whole += product.accumulator() == split ? product.k() / 4 : 0;
      }
      columns = parts.getOrDefault(split, columns);
    }
    FormulaReads reads = FormulaReads.of(group, map);
    int rows = reads.columns();
    long others = rows == 0 ? OTHER_REGISTERS : OTHER_REGISTERS + 4 + columns / 16;
    // Of what is added to accumulators, ptxas holds a part at a time; the more it has, the more.
    long added = rows * columns * (columns > WIDE ? 6 : 3) / 16 + 2;
    return whole
        + (reads.sums()
            ? operand(columns, group.products().getFirst().accumulator().dtype())
                + (rows == 0 || isWide(group, map) ? 0 : added)
            : operand(columns, map.to().dtype())
                + Math.min(rows * columns / 4, Lowering.COLUMN_REGISTERS))
        + others
        + (reads.functions() ? FUNCTION_REGISTERS / (reads.sums() ? 1 : 2) : 0);
  }

  /**
   * The accumulators of which a formula is computed part by part; null if it is not. A formula of
   * columns that padding adds is no epilogue of a product, but has parts as one has.
   */
  private static @Nullable Buffer split(
      StageGroup group, Map map, java.util.Map<Buffer, Long> parts) {
    if (map.ending() != null) {
      Buffer accumulator = map.ending().accumulator();
      return parts.containsKey(accumulator) ? accumulator : null;
    }
    return StageReads.of(group.func()).by(map.block()).stream()
        .filter(parts::containsKey)
        .findFirst()
        .orElse(null);
  }

  /**
   * Whether a formula makes f32 of accumulators for rows to be reduced from, or takes them: what it
   * reads of columns ptxas holds for a few at a time (256 columns with a scale and a bias: 298
   * registers by what others need, and 240 did not spill).
   */
  private static boolean isWide(StageGroup group, Map map) {
    if (!group.reduces()) {
      return false;
    }
    Set<Buffer> read = StageReads.of(group.func()).by(map.block());
    return map.to().dtype() == DType.F32
        || group.products().stream().noneMatch(p -> read.contains(p.accumulator()));
  }

  /**
   * Registers of a thread that computes.
   *
   * @param streams whether a warpgroup more copies, and gives most of its registers away
   */
  private static long registers(int consumers, boolean streams) {
    int groups = consumers + (streams ? 1 : 0);
    long entry = Math.min(256, GpuTarget.REGISTERS_PER_SM / WARPGROUP / groups / 8 * 8);
    return streams ? Math.min(MOST_REGISTERS, (entry * groups - 24) / consumers / 8 * 8) : entry;
  }

  /** The choice in words, for example {@code consumers=6 prefetch=1}. */
  public String text() {
    return String.format(
        Locale.ROOT,
        "consumers=%d prefetch=%d stages=%d%s%s%s",
        consumers,
        prefetch ? 1 : 0,
        weights.stages(),
        weights.whole() ? "" : " slices=" + weights.slices(),
        weights.streamed() == 0 ? "" : " streamed=" + weights.streamed(),
        columns == COLUMNS[0] ? "" : " columns=" + columns);
  }

  /** The instruction of a product. */
  String instruction(Matmul product) {
    if (isTf32(product)) {
      return "wgmma.m64n" + product.n() + "k8.f32.tf32.ra";
    }
    String type = product.weight().dtype() == DType.F16 ? "f16" : "bf16";
    String accumulators = product.accumulator().dtype().text();
    return "wgmma.m64n" + part(product) + "k16." + accumulators + "." + type + ".ra";
  }

  /** Columns of a product that are computed at a time. */
  long part(Matmul product) {
    return part(product, parts);
  }

  private static long part(Matmul product, java.util.Map<Buffer, Long> parts) {
    return parts.getOrDefault(product.accumulator(), product.n());
  }
}
