package dev.warpwright.families.attention;

import dev.warpwright.base.UserError;
import dev.warpwright.families.attention.AttentionConfig.Combine;
import dev.warpwright.families.attention.AttentionConfig.Instruction;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Attention;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What is expected of an attention's configurations before anything runs: from bytes, operations,
 * and the steps that a block makes one after the other. By {@code mma.sync} a step takes what its
 * products, its copies' way from memory and its share of the memory's rate take, the longest of
 * them counting most; fitted to 225 times of three decodes on an H200, of which the logarithms
 * deviate by 0.09. By wgmma steps are fitted to 11 times of one prefill there, and of few rows, of
 * which the bytes count alone, those under way against what memory gives, to 196 times of six
 * decodes, of which the logarithms deviate by 0.08.
 */
public final class AttentionModel {
  /** The device of those times. */
  public static final String FITTED = "H200 SXM";

  /** A step of a block with 16 rows for each warp and heads of 128: its softmax and barriers. */
  private static final double STEP_MICROS = 0.27;

  /** Each key of it. */
  private static final double KEY_MICROS = 0.02;

  /** With more keys than these in a tile, registers are so few that less is done at a time. */
  private static final int FEW_KEYS = 32;

  private static final double MANY_KEYS = 1.25;
  private static final int HEAD = 128;

  /** From asking for a tile of keys and values until it is there. */
  private static final double WAIT_MICROS = 0.65;

  /** How much more the longest of what overlaps counts than the others. */
  private static final double NORM = 5.3;

  /** How much longer a step takes each time that threads which only copy double its block. */
  private static final double ONLY_COPYING = 0.04;

  /** A block's beginning and end. */
  private static final double BLOCK_MICROS = 0.8;

  /** What a launch takes within a graph, beside its blocks. */
  private static final double LAUNCH_MICROS = 0.4;

  /** What the launch that combines adds, and each part. */
  private static final double COMBINE_MICROS = 1.9;

  private static final double PART_MICROS = 0.05;

  /** What combining in a cluster adds: its launch, two barriers, and each part. */
  private static final double CLUSTER_MICROS = 1.2;

  private static final double CLUSTER_PART_MICROS = 0.08;

  /**
   * What combining by the last block adds, an estimate: stores that reach L2, a number from there,
   * and parts from there; and bytes of parts that one SM reads in a microsecond.
   */
  private static final double LAST_MICROS = 1.6;

  private static final double LAST_BYTES = 1e5;

  /** Shares of their peaks that memory and mma.sync reach. */
  private static final double MEMORY = 0.84;

  private static final double MATH = 0.35;

  /** Of wgmma: what products reach, what is beside them in a step, and a block's two ends. */
  private static final double GROUPS_MATH = 0.69;

  private static final double GROUPS_STEP_MICROS = 0.145;
  private static final double GROUPS_BLOCK_MICROS = 2.5;

  /** Of few rows by wgmma: what their copies reach of memory's peak, and how long one takes. */
  private static final double FEW_MEMORY = 0.89;

  private static final double FEW_WAIT_MICROS = 0.765;
  private static final double FEW_NORM = 2.64;

  /** What an SM reaches alone, in its share of memory's rate. */
  private static final double FEW_OF_SM = 1.52;

  /** A launch and a block's ends, and what adding parts up takes by a launch and in a cluster. */
  private static final double FEW_MICROS = 2;

  private static final double FEW_COMBINE_MICROS = 1.22;
  private static final double FEW_PART_MICROS = 0.058;
  private static final double FEW_CLUSTER_MICROS = 0.8;
  private static final double FEW_CLUSTER_PART_MICROS = 0.084;

  /** How much longer clusters of more than two blocks take, where not each block has an SM. */
  private static final double CROWDED = 1.41;

  /** Blocks of a warpgroup and a copying warp that the registers of an SM are enough for. */
  private static final int FEW_RESIDENT = 2;

  /** With two stages each copy is waited for. */
  private static final double GROUPS_TWO_STAGES = 1.25;

  /** A warpgroup alone leaves tensor cores idle during its softmax; not measured. */
  private static final double ONE_GROUP = 1.4;

  /** So much longer than expected is expected: a search tries it, and nobody takes it untold. */
  public static final double UNMEASURED = 1.2;

  private static final int BARRIER_BYTES = 8;

  /** Barriers of a ring begin at multiples of so many bytes. */
  private static final int BARRIER = 16;

  private static final int MOST_OF_BLOCK = 65536;

  /** Registers that threads of a warpgroup might have if there were one, and of one that copies. */
  private static final int OF_FOUR_WARPS = 512;

  private static final int COPYING_REGISTERS = 40;

  /** Most registers of a thread of which none spill. */
  private static final int MOST_REGISTERS = 230;

  /** Registers beside those of fragments and of copies under way. */
  private static final int OTHER_REGISTERS = 48;

  private AttentionModel() {}

  /**
   * A configuration and its expected time.
   *
   * @param micros of all launches
   * @param bytes of device memory, partial results included
   * @param blocks of the first launch
   * @param resident blocks at a time on an SM
   */
  public record Expected(
      AttentionConfig config, double micros, double bytes, long blocks, int resident) {}

  /** Bytes of shared memory of a block: rows an odd number of 16 bytes apart. */
  static int sharedBytes(Attention attention, AttentionConfig config) {
    return ofBlock(attention, config)
        + (config.inCluster() ? ClusterParts.sharedBytes(attention, config) : 0);
  }

  private static int ofBlock(Attention attention, AttentionConfig config) {
    if (config.isForWarpgroups()) {
      // Rows of Q and of the result, tiles of keys or values, two barriers a stage of each ring.
      int bytes = attention.headSize() * attention.type().bytes();
      int queries = config.blocks() == 0 ? 1 : 2;
      return bytes * ((queries + 1) * config.tileRows() + config.stages() * config.tileKeys())
          + 2 * BARRIER
          + Math.ceilDiv(config.stages() * BARRIER_BYTES, BARRIER) * BARRIER
          + config.stages() * BARRIER_BYTES;
    }
    int chunks = Math.ceilDiv(attention.headSize(), 16) * 2;
    int row = (chunks + 1 - chunks % 2) * 16;
    int behindLast = row - chunks * 16;
    return row * (config.tileRows() + 2 * config.stages() * config.tileKeys()) - 3 * behindLast;
  }

  /** Registers of a thread: sums, scores, weights, without a ring copies that are on their way. */
  static int registers(Attention attention, AttentionConfig config) {
    if (config.isForWarpgroups()) {
      // What a block of so many threads gets, before the copying warp gives up its own.
      return MOST_OF_BLOCK / config.threads();
    }
    int columns = Math.ceilDiv(attention.headSize(), 16) * 16;
    int vectors = config.tileKeys() * columns / 8 / config.threads();
    int copied = config.stages() > 1 ? 0 : 4 * (vectors <= 16 ? vectors : 4);
    return columns / 2 + config.tileKeys() / 2 + config.tileKeys() / 4 + copied + OTHER_REGISTERS;
  }

  /** The time on a device of which all entries are full. */
  public static Expected predict(Attention attention, AttentionConfig config, DeviceModel device) {
    int tiles = Math.ceilDiv(attention.rows(), config.tileRows());
    long blocks = (long) tiles * attention.heads() * config.splits();
    int resident =
        Math.max(
            1,
            device
                .target()
                .blocksPerSm(
                    config.threads(),
                    Math.min(255, registers(attention, config)),
                    sharedBytes(attention, config)));
    double partial =
        config.splits() == 1
            ? 0
            : 2.0
                * config.splits()
                * attention.heads()
                * attention.rows()
                * (attention.headSize() + 2)
                * 4;
    double bytes = attention.bytes() + partial;
    if (isFew(attention, config)) {
      return new Expected(
          config,
          few(attention, config, device) * (isMeasured(attention, config) ? 1 : UNMEASURED),
          bytes,
          blocks,
          ofFewResident(attention, config, device));
    }
    // Of causal rows about half the keys are not looked at, where there are as many as keys.
    double share =
        attention.pairs(attention.keys()) / ((double) attention.tokens() * attention.keys());
    int ofEntry = Math.ceilDiv(attention.keys(), config.tileKeys());
    double micros =
        config.isForWarpgroups()
            ? groups(
                attention,
                config,
                device,
                Math.max(1, share * ofEntry / config.splits()),
                blocks,
                resident)
            : warps(attention, config, device, share, ofEntry, tiles, resident);
    double memory = bytes / (MEMORY * device.dramGBs() * 1e3);
    double math =
        attention.flops()
            / (attention.precision().peak(device) * 1e-6)
            / (config.isForWarpgroups() ? GROUPS_MATH : MATH);
    double combine =
        config.splits() == 1
            ? 0
            : switch (config.combine()) {
              case LAUNCH -> COMBINE_MICROS + PART_MICROS * config.splits();
              case CLUSTER -> CLUSTER_MICROS + CLUSTER_PART_MICROS * config.splits();
              case LAST -> last(attention, config);
            };
    return new Expected(
        config,
        (Math.max(micros, Math.max(memory, math)) + combine + LAUNCH_MICROS)
            * (isMeasured(attention, config) ? 1 : UNMEASURED),
        bytes,
        blocks,
        resident);
  }

  /** Whether anything of a configuration's kind was measured when the model was fitted. */
  public static boolean isMeasured(Attention attention, AttentionConfig config) {
    if (config.combine() == Combine.LAST) {
      return false;
    }
    return !config.isForWarpgroups()
        || isFew(attention, config)
        || config.blocks() == 0
            && config.splits() == 1
            && attention.rows() >= config.tileRows()
            && config.tileRows() == 2 * AttentionConfig.GROUP_ROWS;
  }

  /** Whether warpgroups have so few rows that their products take no time beside the copies. */
  private static boolean isFew(Attention attention, AttentionConfig config) {
    return config.isForWarpgroups() && attention.rows() <= AttentionConfig.GROUP_ROWS;
  }

  /** Whether no thread is expected to keep registers in memory. */
  static boolean isClean(Attention attention, AttentionConfig config) {
    if (!config.isForWarpgroups()) {
      return registers(attention, config) <= MOST_REGISTERS;
    }
    // Scores, weights and sums; warpgroups share what the copying one gives up.
    int held = config.tileKeys() * 3 / 4 + attention.headSize() / 2 + OTHER_REGISTERS;
    int groups = config.tileRows() / AttentionConfig.GROUP_ROWS;
    return held <= Math.min(MOST_REGISTERS, (OF_FOUR_WARPS - COPYING_REGISTERS) / groups);
  }

  /** Of warps: waves of blocks, each as long as its steps; blocks on an SM share its bandwidth. */
  private static double warps(
      Attention attention,
      AttentionConfig config,
      DeviceModel device,
      double share,
      int ofEntry,
      int tiles,
      int resident) {
    double head = (double) attention.headSize() / HEAD;
    double keys = config.tileKeys() * (config.tileKeys() > FEW_KEYS ? MANY_KEYS : 1);
    double products = STEP_MICROS + KEY_MICROS * keys * head;
    double tile =
        2.0
            * config.tileKeys()
            * attention.headSize()
            * attention.type().bytes()
            / (MEMORY * device.dramGBs() * 1e3 / device.sms());
    double copying = config.threads() / (32.0 * config.warps());
    double slower = 1 + ONLY_COPYING * Math.log(copying) / Math.log(2);
    int each = Math.ceilDiv(ofEntry, config.splits());
    // Parts of whole tiles: the last ones may have nothing to do.
    long left = (long) tiles * attention.heads() * Math.ceilDiv(ofEntry, each);
    double micros = 0;
    while (left > 0) {
      long now = Math.min(left, (long) resident * device.sms());
      double arrives = tile * Math.ceilDiv(now, device.sms());
      double step =
          config.stages() == 1
              ? products + Math.max(arrives, WAIT_MICROS)
              : Math.pow(
                  Math.pow(products, NORM)
                      + Math.pow(arrives, NORM)
                      + Math.pow(WAIT_MICROS / (config.stages() - 1), NORM),
                  1 / NORM);
      micros += Math.max(1, each * share) * step * slower + BLOCK_MICROS;
      left -= now;
    }
    return micros;
  }

  private static int ofFewResident(
      Attention attention, AttentionConfig config, DeviceModel device) {
    return config.blocks() > 0
        ? 1
        : Math.clamp(
            device.target().sharedPerSm()
                / (sharedBytes(attention, config) + device.target().reservedPerBlock()),
            1,
            FEW_RESIDENT);
  }

  /**
   * Of few rows by warpgroups: waves of blocks, whose copies take what memory's rate allows or what
   * is under way at a time, the longer counting most.
   */
  private static double few(Attention attention, AttentionConfig config, DeviceModel device) {
    double memory = FEW_MEMORY * device.dramGBs() * 1e3;
    long tile = (long) config.tileKeys() * attention.headSize() * attention.type().bytes();
    int ofEntry = Math.ceilDiv(attention.keys(), config.tileKeys());
    int each = Math.ceilDiv(ofEntry, config.splits());
    // Parts of whole tiles: the last ones may have nothing to do.
    long blocks = (long) attention.heads() * Math.ceilDiv(ofEntry, each);
    int resident = ofFewResident(attention, config, device);
    double micros = 0;
    for (long left = blocks; left > 0; left -= (long) resident * device.sms()) {
      long now = Math.min(left, (long) resident * device.sms());
      double rate =
          Math.min(
              memory / Math.min(now, device.sms()),
              FEW_OF_SM * device.dramGBs() * 1e3 / device.sms());
      double copied = 2.0 * each * tile * Math.ceilDiv(now, device.sms()) / rate;
      double waited = 2.0 * each * FEW_WAIT_MICROS / (config.stages() - 1);
      micros += Math.pow(Math.pow(copied, FEW_NORM) + Math.pow(waited, FEW_NORM), 1 / FEW_NORM);
    }
    if (config.inCluster() && config.splits() > 2 && blocks > device.sms()) {
      micros *= CROWDED;
    }
    double combine =
        config.splits() == 1
            ? 0
            : switch (config.combine()) {
              case LAUNCH -> FEW_COMBINE_MICROS + FEW_PART_MICROS * config.splits();
              case CLUSTER -> FEW_CLUSTER_MICROS + FEW_CLUSTER_PART_MICROS * config.splits();
              case LAST -> last(attention, config);
            };
    return FEW_MICROS + Math.max(micros, attention.bytes() / memory) + combine;
  }

  private static double last(Attention attention, AttentionConfig config) {
    int rows = Math.min(config.tileRows(), attention.rows());
    return LAST_MICROS
        + config.splits() * rows * (attention.headSize() + 2) * DType.F32.bytes() / LAST_BYTES;
  }

  /** Of warpgroups: an SM's blocks one after the other, the long ones first. */
  private static double groups(
      Attention attention,
      AttentionConfig config,
      DeviceModel device,
      double steps,
      long blocks,
      int resident) {
    double rate = attention.precision().peak(device) / device.sms() * GROUPS_MATH * 1e-6;
    double flops = 4.0 * config.tileRows() * config.tileKeys() * attention.headSize();
    double step = flops / rate + GROUPS_STEP_MICROS;
    step *= config.stages() == 2 ? GROUPS_TWO_STAGES : 1;
    step *= config.tileRows() == AttentionConfig.GROUP_ROWS ? ONE_GROUP / resident : 1;
    double ofSm = Math.max(1, (double) blocks / device.sms());
    return ofSm * (steps * step + GROUPS_BLOCK_MICROS);
  }

  /**
   * All of the space, the fastest first.
   *
   * @throws UserError if there is none: the page fits no tile, or the type has no kernel
   */
  public static List<Expected> ranked(Attention attention, DeviceModel device) {
    return ranked(attention, AttentionSpace.ALL, device);
  }

  /** What configurations differ in beside sizes. */
  private record Kind(Instruction by, Combine combine, boolean persistent) {}

  /** The first of each kind: a search tries each of them. */
  public static List<AttentionConfig> kinds(List<Expected> ranked) {
    Map<Kind, AttentionConfig> kinds = new LinkedHashMap<>();
    for (Expected expected : ranked) {
      AttentionConfig each = expected.config();
      kinds.putIfAbsent(new Kind(each.instruction(), each.combine(), each.blocks() > 0), each);
    }
    return List.copyOf(kinds.values());
  }

  /** The first of each kind, then the others. */
  public static List<AttentionConfig> eachKindFirst(List<Expected> ranked) {
    return Stream.concat(kinds(ranked).stream(), ranked.stream().map(Expected::config))
        .distinct()
        .toList();
  }

  /** The same of another space. */
  public static List<Expected> ranked(
      Attention attention, AttentionSpace space, DeviceModel device) {
    attention.precision().check(device.target());
    List<Expected> ranked =
        space.configs(attention, device.target()).stream()
            .map(config -> predict(attention, config, device))
            .sorted(
                Comparator.comparingDouble(Expected::micros)
                    .thenComparingDouble(Expected::bytes)
                    .thenComparing(e -> e.config().text()))
            .toList();
    if (ranked.isEmpty()) {
      // The first reason there is.
      new AttentionConfig(16, 16, 1, 32, 1).check(attention);
      throw new UserError(
          attention.text()
              + ": none of these configurations fits a block of "
              + device.target().name());
    }
    return ranked;
  }
}
