package dev.warpwright.cli.attention;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionConfig.Combine;
import dev.warpwright.families.attention.AttentionConfig.Instruction;
import dev.warpwright.families.attention.AttentionKernels;
import dev.warpwright.families.attention.AttentionModel;
import dev.warpwright.families.attention.ProjectedAttention;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.families.tuned.TunedAttention;
import dev.warpwright.ir.type.DType;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Attention as commands are given it: {@code B=2 HQ=8 HKV=2 D=64 T=1 S=127 dtype=bf16}.
 *
 * @param config how to compute it; null for what was measured, or is expected, to be fastest
 * @param features of an output projection in the same launch; 0 without one
 */
public record AttentionTask(Attention attention, @Nullable AttentionConfig config, int features) {
  /** The word for it in a model's place. */
  public static final String NAME = "attention";

  /** Its keys, for messages. */
  public static final String KEYS =
      "B, HQ, HKV, D, T, S, causal, page, dtype, by, rows, keys, splits, threads, stages,"
          + " blocks, combine, project";

  /** The keys of a configuration. */
  static final List<String> CHOICES = List.of("rows", "keys", "splits", "threads", "stages");

  static final int MOST = 1 << 20;
  private static final int GROUP_ROWS = 128;
  private static final int GROUP_KEYS = 128;
  private static final int GROUP_STAGES = 4;
  private static final int ROWS = 16;
  private static final int TILE_KEYS = 64;
  private static final int THREADS = 128;
  private static final int STAGES = 2;

  /** Whether a command is about attention. */
  public static boolean is(String what) {
    return what.equals(NAME);
  }

  /**
   * Reads a task.
   *
   * @throws UserError if it is none
   */
  public static AttentionTask of(List<String> arguments) {
    return of(new KeyValues(arguments));
  }

  /** Reads a task of which a command has read its own keys. */
  static AttentionTask of(KeyValues values) {
    Attention attention = attention(values);
    AttentionConfig config = null;
    Instruction by = by(values);
    if (by == Instruction.WGMMA) {
      config =
          AttentionConfig.wgmma(
                  (int) values.number("rows", 1, MOST, GROUP_ROWS),
                  (int) values.number("keys", 1, MOST, GROUP_KEYS),
                  (int) values.number("stages", 1, MOST, GROUP_STAGES))
              .withSplits((int) values.number("splits", 1, MOST, 1))
              .withBlocks((int) values.number("blocks", 0, MOST, 0));
    } else if (by != null
        || combine(values) != Combine.LAUNCH
        || CHOICES.stream().anyMatch(key -> values.text(key) != null)) {
      config =
          new AttentionConfig(
              (int) values.number("rows", 1, MOST, ROWS),
              (int) values.number("keys", 1, MOST, TILE_KEYS),
              (int) values.number("splits", 1, MOST, 1),
              (int) values.number("threads", 1, MOST, THREADS),
              (int) values.number("stages", 1, MOST, STAGES));
    }
    if (config != null) {
      config = config.combined(combine(values));
      config.check(attention);
    }
    int features = (int) values.number("project", 0, MOST, 0);
    values.finish(KEYS);
    if (features > 0 && config == null) {
      throw new UserError(
          "project=" + features + ": say how, as by=wgmma rows=64 keys=64 splits=16");
    }
    return new AttentionTask(attention, config, features);
  }

  /** What is to be computed, without how. */
  static Attention attention(KeyValues values) {
    int heads = (int) values.number("HQ", 1, MOST);
    int d = (int) values.number("D", 1, MOST);
    try {
      return Attention.of(
              (int) values.number("B", 1, MOST, 1),
              heads,
              (int) values.number("HKV", 1, MOST, heads),
              d,
              (int) values.number("T", 1, MOST, 1),
              (int) values.number("S", 1, MOST),
              type(values.text("dtype", "bf16")))
          .withCausal(values.number("causal", 0, 1, 0) == 1)
          .withPage((int) values.number("page", 0, MOST, 0));
    } catch (IllegalArgumentException e) {
      throw new UserError("attention: " + e.getMessage(), e);
    }
  }

  /** The instruction that is asked for; null if none is. */
  static @Nullable Instruction by(KeyValues values) {
    String text = values.text("by");
    if (text == null) {
      return null;
    }
    for (Instruction each : Instruction.values()) {
      if (each.text().equals(text)) {
        return each;
      }
    }
    throw new UserError("by=" + text + ": it is mma or wgmma");
  }

  private static Combine combine(KeyValues values) {
    return combine(values.text("combine", Combine.LAUNCH.text()));
  }

  /** What is to combine parts of keys. */
  static Combine combine(String text) {
    for (Combine each : Combine.values()) {
      if (each.text().equals(text)) {
        return each;
      }
    }
    throw new UserError("combine=" + text + ": it is launch, cluster or last");
  }

  private static DType type(String text) {
    for (DType type : List.of(DType.F16, DType.BF16, DType.F32)) {
      if (type.text().equals(text)) {
        return type;
      }
    }
    throw new UserError("dtype=" + text + ": it is f16, bf16 or, on the CPU, f32");
  }

  /**
   * The device whose times are predicted for a target.
   *
   * @throws UserError if the catalogue has none
   */
  public static DeviceModel device(GpuTarget target) {
    return Prediction.device(target)
        .orElseThrow(() -> new UserError("no device of " + target.name() + " is known"));
  }

  /**
   * How it is computed.
   *
   * @param measured if it is the fastest of the records
   */
  record Chosen(AttentionConfig config, Optional<TunedAttention> measured) {}

  /** As is asked for, or as was measured to be fastest, or as is expected to be. */
  Chosen chosen(GpuTarget target) {
    if (config != null) {
      return new Chosen(config, Optional.empty());
    }
    try (GemmKernels known = GemmKernels.of(target)) {
      Optional<TunedAttention> measured = known.attention(attention);
      return new Chosen(
          measured
              .map(TunedAttention::config)
              .orElseGet(
                  () -> AttentionModel.ranked(attention, device(target)).getFirst().config()),
          measured);
    }
  }

  /** Its kernel with an output projection. */
  public ProjectedAttention projected(GpuTarget target) {
    return ProjectedAttention.of(attention, chosen(target).config(), target, features);
  }

  /**
   * Refuses an output projection.
   *
   * @param where it is not known
   */
  void refuseProjection(String where) {
    if (features > 0) {
      throw new UserError(
          "project="
              + features
              + " is for plan, check, perf and run --target sim, not for "
              + where);
    }
  }

  /** Its kernels. */
  public AttentionKernels kernels(GpuTarget target) {
    return AttentionKernels.of(attention, chosen(target).config(), target);
  }
}
