package dev.warpwright.space.record;

import dev.warpwright.workload.WorkloadKey;
import java.util.List;
import java.util.Optional;

/**
 * What was measured, to look up: in a {@link TuningDatabase}, or the {@link RecordList} that comes
 * with Warpwright and needs none.
 */
public interface KnownRecords extends AutoCloseable {
  /**
   * {@return what was tried for a workload on a target in any environment, oldest first}
   *
   * @param workload exactly this one
   * @param target as {@code sm_90a}
   */
  List<TuningRecord> tried(WorkloadKey workload, String target);

  /**
   * {@return the fastest for a workload on a target, wherever it was measured; this device first}
   * Of what was measured more than once, the last time counts, here and in {@link #nearest}.
   *
   * @param workload exactly this one
   * @param target as {@code sm_90a}
   * @param device as its driver calls it
   */
  Optional<TuningRecord> best(WorkloadKey workload, String target, String device);

  /**
   * {@return the fastest record of each workload of a kind on a target, nearest workload first}
   *
   * @param workload near which
   * @param target as {@code sm_90a}
   * @param count at most so many
   */
  List<TuningRecord> nearest(WorkloadKey workload, String target, int count);

  @Override
  void close();
}
