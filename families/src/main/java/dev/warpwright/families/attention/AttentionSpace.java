package dev.warpwright.families.attention;

import dev.warpwright.base.UserError;
import dev.warpwright.families.attention.AttentionConfig.Combine;
import dev.warpwright.families.attention.AttentionConfig.Instruction;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.List;

/**
 * Configurations to choose from: each combination of these values that an attention can have, that
 * fits a block and is not expected to spill. Of an empty list all are taken that are worth trying.
 *
 * @param rows of a tile of Q
 * @param keys of a tile
 * @param splits parts of the keys; powers of two are worth trying, no more than there are tiles
 * @param threads of a block; of wgmma they follow from the rows
 * @param stages of the ring
 * @param combines what combines parts
 */
public record AttentionSpace(
    List<Integer> rows,
    List<Integer> keys,
    List<Integer> splits,
    List<Integer> threads,
    List<Integer> stages,
    List<Instruction> instructions,
    List<Combine> combines) {
  /** What is worth trying of any attention. */
  public static final AttentionSpace ALL =
      new AttentionSpace(
          List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of());

  private static final List<Integer> ROWS = List.of(16, 32, 64);
  private static final List<Integer> KEYS = List.of(16, 32, 64, 128);
  private static final List<Integer> THREADS = List.of(32, 64, 128);
  private static final List<Integer> STAGES = List.of(1, 2, 3, 4);
  private static final List<Integer> GROUP_ROWS = List.of(64, 128, 192);
  private static final List<Integer> GROUP_KEYS = List.of(64, 96, 128);
  private static final List<Integer> GROUP_STAGES = List.of(2, 3, 4, 6);

  public AttentionSpace {
    rows = List.copyOf(rows);
    keys = List.copyOf(keys);
    splits = List.copyOf(splits);
    threads = List.copyOf(threads);
    stages = List.copyOf(stages);
    instructions = List.copyOf(instructions);
    combines = List.copyOf(combines);
  }

  /** The configurations of an attention for a target; none if nothing fits. */
  public List<AttentionConfig> configs(Attention attention, GpuTarget target) {
    List<AttentionConfig> configs = new ArrayList<>();
    for (Instruction instruction : or(instructions, List.of(Instruction.values()))) {
      switch (instruction) {
        case MMA -> addWarps(configs, attention, target);
        case WGMMA -> addGroups(configs, attention, target);
      }
    }
    configs.removeIf(config -> !fits(attention, config, target));
    return configs;
  }

  private static <T> List<T> or(List<T> asked, List<T> otherwise) {
    return asked.isEmpty() ? otherwise : asked;
  }

  private void addWarps(List<AttentionConfig> configs, Attention attention, GpuTarget target) {
    for (int tileRows : or(rows, ROWS)) {
      for (int tileKeys : or(keys, KEYS)) {
        for (int block : or(threads, THREADS)) {
          for (int parts : or(splits, powers(attention, tileKeys))) {
            for (int ring : or(stages, STAGES)) {
              AttentionConfig config = new AttentionConfig(tileRows, tileKeys, parts, block, ring);
              addCombined(configs, config, target);
            }
          }
        }
      }
    }
  }

  private void addGroups(List<AttentionConfig> configs, Attention attention, GpuTarget target) {
    if (!target.hasWgmma()) {
      return;
    }
    boolean few = attention.rows() <= AttentionConfig.GROUP_ROWS;
    for (int tileRows : or(rows, few ? List.of(AttentionConfig.GROUP_ROWS) : GROUP_ROWS)) {
      for (int tileKeys : or(keys, GROUP_KEYS)) {
        for (int parts : or(splits, few ? powers(attention, tileKeys) : List.of(1))) {
          for (int ring : or(stages, GROUP_STAGES)) {
            AttentionConfig config =
                AttentionConfig.wgmma(tileRows, tileKeys, ring).withSplits(parts);
            if (threads.isEmpty() || threads.contains(config.threads())) {
              addCombined(configs, config, target);
              configs.add(config.withBlocks(DeviceCatalogue.sms(target)));
            }
          }
        }
      }
    }
  }

  /** Whole keys have nothing to combine, whatever is asked for. */
  private void addCombined(
      List<AttentionConfig> configs, AttentionConfig config, GpuTarget target) {
    if (config.splits() == 1) {
      configs.add(config);
      return;
    }
    for (Combine by : or(combines, List.of(Combine.values()))) {
      if (by != Combine.CLUSTER || target.hasHopper()) {
        configs.add(config.combined(by));
      }
    }
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
        && AttentionModel.isClean(attention, config);
  }
}
