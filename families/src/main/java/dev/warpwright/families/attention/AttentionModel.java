package dev.warpwright.families.attention;

import dev.warpwright.base.UserError;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Attention;
import java.util.Comparator;
import java.util.List;

/**
 * What is expected of an attention's configurations before anything runs: from bytes, operations,
 * and the steps that a block makes one after the other. Its constants are estimates: no measurement
 * is behind them yet.
 */
public final class AttentionModel {
  /** From asking for a tile of keys and values until it is there. */
  private static final double WAIT_MICROS = 1;

  /** Scores, weights and sums of a tile of 64 keys, and its barriers. */
  private static final double STEP_MICROS = 0.6;

  private static final int STEP_KEYS = 64;

  /** Of a tile by wgmma, what is beside its products. */
  private static final double GROUPS_STEP_MICROS = 0.1;

  /** A block's beginning and end. */
  private static final double BLOCK_MICROS = 1.5;

  /** What a launch takes within a graph. */
  private static final double LAUNCH_MICROS = 2;

  /** Shares of their peaks that memory and mma.sync reach. */
  private static final double MEMORY = 0.85;

  private static final double MATH = 0.35;

  /** The same of wgmma. */
  private static final double GROUPS_MATH = 0.6;

  private static final int BARRIER_BYTES = 8;

  /** Barriers of a ring begin at multiples of so many bytes. */
  private static final int BARRIER = 16;

  private static final int MOST_OF_BLOCK = 65536;

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

  /** How much faster than device memory keys come from L2, which other blocks have read. */
  private static final double L2 = 2;

  /** Bytes of shared memory of a block: rows an odd number of 16 bytes apart. */
  static int sharedBytes(Attention attention, AttentionConfig config) {
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
    boolean groups = config.isForWarpgroups();
    double entries = attention.heads();
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
    // Of causal rows about half the keys are not looked at, where there are as many as keys.
    double share =
        attention.pairs(attention.keys()) / ((double) attention.tokens() * attention.keys());
    double steps =
        Math.ceil(share * Math.ceilDiv(attention.keys(), config.tileKeys()) / config.splits());
    double waves = Math.ceil((double) blocks / ((double) resident * device.sms()));
    double partial =
        config.splits() == 1
            ? 0
            : 2.0 * config.splits() * entries * attention.rows() * (attention.headSize() + 2) * 4;
    double bytes = attention.bytes() + partial;
    double rows = (double) tiles * config.tileRows();
    double math =
        4
            * entries
            * rows
            * attention.headSize()
            * attention.keys()
            * share
            / (attention.precision().peak(device) * (groups ? GROUPS_MATH : MATH));
    // Each tile of rows reads its keys again.
    double again =
        2.0
            * tiles
            * entries
            * attention.keys()
            * share
            * attention.headSize()
            * attention.type().bytes();
    // An SM with more blocks than others is the last, and one without any asks for nothing.
    double balance = blocks / (device.sms() * Math.ceil((double) blocks / device.sms()));
    double ofTile = 1e6 * math * device.sms() / (blocks * steps);
    double compute =
        groups
            ? ofTile + GROUPS_STEP_MICROS
            : STEP_MICROS * (1 + (double) config.tileKeys() / STEP_KEYS) / 2;
    double wanted = device.dramGBs() * 1e9 / device.sms() * WAIT_MICROS * 1e-6;
    double together = Math.min(resident, Math.ceil((double) blocks / device.sms()));
    double reached = Math.min(1, together * underWay(attention, config, compute) / wanted);
    double memory =
        Math.max(bytes / MEMORY, again / (L2 * MEMORY))
            / (device.dramGBs() * 1e9 * balance * reached);
    double step = Math.max(compute, (WAIT_MICROS + compute) / config.stages());
    double waiting =
        config.blocks() == 0
            ? waves * (steps * step + BLOCK_MICROS) * 1e-6
            : (Math.ceil((double) blocks / config.blocks()) * steps * step + BLOCK_MICROS) * 1e-6;
    double launches = (config.splits() == 1 ? 1 : 2) * LAUNCH_MICROS;
    double micros = Math.max(waiting, Math.max(math, memory)) * 1e6 + launches;
    return new Expected(config, micros, bytes, blocks, resident);
  }

  /** Bytes that a block has under way, on average. */
  private static double underWay(Attention attention, AttentionConfig config, double compute) {
    double tile = 2.0 * config.tileKeys() * attention.headSize() * attention.type().bytes();
    double full = WAIT_MICROS / (WAIT_MICROS + compute);
    return tile * (config.stages() == 1 ? full : config.stages() - 1);
  }

  /**
   * All of the space, the fastest first.
   *
   * @throws UserError if there is none: the page fits no tile, or the type has no kernel
   */
  public static List<Expected> ranked(Attention attention, DeviceModel device) {
    return ranked(attention, AttentionSpace.ALL, device);
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
