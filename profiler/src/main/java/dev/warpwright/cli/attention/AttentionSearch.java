package dev.warpwright.cli.attention;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionConfig.Combine;
import dev.warpwright.families.attention.AttentionConfig.Instruction;
import dev.warpwright.families.attention.AttentionSpace;
import dev.warpwright.measure.attention.AttentionBench;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What is to be timed of an attention.
 *
 * @param config the one to measure; null for what is best known, or for a search
 * @param space of a search
 * @param trials configurations of a search
 * @param seed of the random data
 * @param features of an output projection; 0 without one
 */
public record AttentionSearch(
    Attention attention,
    @Nullable AttentionConfig config,
    AttentionSpace space,
    int trials,
    long seed,
    int features) {
  /** Configurations that a search times, if not said. */
  private static final int TRIALS = 24;

  private static final int MOST_TRIALS = 1000;
  private static final Pattern LIST = Pattern.compile("\\d{1,6}(,\\d{1,6})*");

  /**
   * Reads a measurement, {@code HQ=32 HKV=8 D=128 S=4096 seed=1 rows=16 stages=3}: one
   * configuration, those values that are not given by default.
   *
   * @throws UserError if it is none
   */
  public static AttentionSearch one(List<String> arguments) {
    KeyValues values = new KeyValues(arguments);
    int trials = trials(values);
    long seed = seed(values);
    AttentionTask task = AttentionTask.of(values);
    AttentionBench.requireSmall(task.attention());
    return new AttentionSearch(
        task.attention(), task.config(), AttentionSpace.ALL, trials, seed, task.features());
  }

  /**
   * Reads a search, {@code HQ=32 HKV=8 D=128 S=4096 t=24 stages=2,3}: values that are given are the
   * only ones.
   *
   * @throws UserError if it is none
   */
  public static AttentionSearch of(List<String> arguments) {
    KeyValues values = new KeyValues(arguments);
    int trials = trials(values);
    long seed = seed(values);
    Attention attention = AttentionTask.attention(values);
    Instruction by = AttentionTask.by(values);
    AttentionSpace space =
        new AttentionSpace(
            list(values, "rows"),
            list(values, "keys"),
            list(values, "splits"),
            list(values, "threads"),
            list(values, "stages"),
            by == null ? List.of() : List.of(by),
            combines(values));
    values.finish(AttentionTask.KEYS + ", t, seed");
    AttentionBench.requireSmall(attention);
    return new AttentionSearch(attention, null, space, trials, seed, 0);
  }

  private static List<Combine> combines(KeyValues values) {
    String text = values.text("combine");
    return text == null
        ? List.of()
        : Arrays.stream(text.split(",")).map(AttentionTask::combine).toList();
  }

  private static int trials(KeyValues values) {
    return (int) values.number("t", 1, MOST_TRIALS, TRIALS);
  }

  private static long seed(KeyValues values) {
    return values.number("seed", 0, Long.MAX_VALUE, 1);
  }

  private static List<Integer> list(KeyValues values, String key) {
    String text = values.text(key);
    if (text == null) {
      return List.of();
    }
    if (!LIST.matcher(text).matches()) {
      throw new UserError(key + "=" + text + ": whole numbers, as " + key + "=2,3");
    }
    List<Integer> list = new ArrayList<>();
    for (String each : text.split(",")) {
      list.add(Integer.parseInt(each));
    }
    return list;
  }
}
