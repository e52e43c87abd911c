package dev.warpwright.families.attention;

import dev.warpwright.base.UserError;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.List;

/**
 * Configurations to choose from: each combination of these values that an attention can have, that
 * fits a block and is not expected to spill.
 *
 * @param rows of a tile of Q
 * @param keys of a tile
 * @param splits parts of the keys; empty: powers of two, no more than there are tiles of keys
 * @param threads of a block
 * @param stages of the ring
 */
public record AttentionSpace(
    List<Integer> rows,
    List<Integer> keys,
    List<Integer> splits,
    List<Integer> threads,
    List<Integer> stages) {
  /** What is worth trying of any attention. */
  public static final AttentionSpace ALL =
      new AttentionSpace(
          List.of(16, 32, 64),
          List.of(16, 32, 64, 128),
          List.of(),
          List.of(32, 64, 128),
          List.of(1, 2, 3, 4));

  /** Most registers of a thread of which none spill. */
  private static final int MOST_REGISTERS = 230;

  public AttentionSpace {
    rows = List.copyOf(rows);
    keys = List.copyOf(keys);
    splits = List.copyOf(splits);
    threads = List.copyOf(threads);
    stages = List.copyOf(stages);
  }

  /** The configurations of an attention for a target; none if nothing fits. */
  public List<AttentionConfig> configs(Attention attention, GpuTarget target) {
    List<AttentionConfig> configs = new ArrayList<>();
    for (int tileRows : rows) {
      for (int tileKeys : keys) {
        for (int block : threads) {
          for (int parts : splits.isEmpty() ? powers(attention, tileKeys) : splits) {
            for (int ring : stages) {
              AttentionConfig config = new AttentionConfig(tileRows, tileKeys, parts, block, ring);
              if (fits(attention, config, target)) {
                configs.add(config);
              }
            }
          }
        }
      }
    }
    return configs;
  }

  private static List<Integer> powers(Attention attention, int tileKeys) {
    int most = Math.min(Math.ceilDiv(attention.keys(), tileKeys), AttentionConfig.MOST_SPLITS);
    List<Integer> powers = new ArrayList<>();
    for (int parts = 1; parts <= most; parts *= 2) {
      powers.add(parts);
    }
    return powers;
  }

  private static boolean fits(Attention attention, AttentionConfig config, GpuTarget target) {
    try {
      config.check(attention);
    } catch (UserError e) {
      return false;
    }
    return AttentionModel.sharedBytes(attention, config) <= target.sharedPerBlock()
        && AttentionModel.registers(attention, config) <= MOST_REGISTERS;
  }
}
