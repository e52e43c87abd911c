package dev.warpwright.families.tuned;

import dev.warpwright.base.UserError;
import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.space.record.KnownRecords;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import java.util.Optional;

/**
 * The fastest configuration of an attention that was measured on a target.
 *
 * @param micros its time, in microseconds
 * @param device on which
 */
public record TunedAttention(AttentionConfig config, double micros, String device) {
  /**
   * Looks it up; empty if nothing was measured, or what was is of a form that is no more.
   *
   * @param device whose records come first; blank for any
   */
  public static Optional<TunedAttention> find(
      Attention attention, GpuTarget target, String device, KnownRecords records) {
    return records
        .best(attention.key(), target.name(), device)
        .flatMap(record -> of(attention, record));
  }

  private static Optional<TunedAttention> of(Attention attention, TuningRecord record) {
    AttentionConfig config = AttentionConfig.parse(record.point().text());
    if (config == null || !(record.outcome() instanceof Outcome.Measured measured)) {
      return Optional.empty();
    }
    try {
      config.check(attention);
    } catch (UserError e) {
      return Optional.empty();
    }
    return Optional.of(
        new TunedAttention(config, measured.timeUs(), record.environment().device()));
  }
}
