package dev.warpwright.tune;

import dev.warpwright.space.record.FailureReason;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Where a search stands.
 *
 * @param trials outcomes so far, those of earlier runs included
 * @param resumed how many of them are of earlier runs
 * @param wanted trials to come to
 * @param seconds since this run began
 * @param best the fastest so far
 * @param failures trials without a time, by reason
 * @param rejections points that were refused before they became candidates, by reason
 * @param curve each improvement, oldest first
 */
public record TuningProgress(
    int trials,
    int resumed,
    int wanted,
    double seconds,
    @Nullable Best best,
    Map<FailureReason, Integer> failures,
    SortedMap<String, Integer> rejections,
    List<Step> curve) {
  /**
   * The fastest.
   *
   * @param candidate with its point
   * @param sourceHash SHA-256 of the printed kernel in hexadecimal
   * @param outcome its time
   */
  public record Best(
      dev.warpwright.space.Candidate candidate,
      String sourceHash,
      dev.warpwright.space.record.Outcome.Measured outcome) {}

  /**
   * An improvement.
   *
   * @param trial its number, from 1
   * @param seconds after the beginning of this run; 0 for what was known before
   * @param timeUs of the fastest from then on
   */
  public record Step(int trial, double seconds, double timeUs) {}

  /** Copies lists and counts. */
  public TuningProgress {
    Map<FailureReason, Integer> counts = new EnumMap<>(FailureReason.class);
    counts.putAll(failures);
    failures = Collections.unmodifiableMap(counts);
    rejections = Collections.unmodifiableSortedMap(new TreeMap<>(rejections));
    curve = List.copyOf(curve);
  }
}
