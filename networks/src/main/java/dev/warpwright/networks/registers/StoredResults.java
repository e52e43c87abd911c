package dev.warpwright.networks.registers;

import dev.warpwright.lower.copy.StoredRows;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.networks.stages.StageGroup;

/** Results of a network that leave through shared memory, for their rows fill no vectors. */
final class StoredResults {
  private StoredResults() {}

  /** Whether a result is one. */
  static boolean suit(Store store) {
    return store.from().dtype() == store.to().dtype() && StoredRows.suit(store.to());
  }

  /** Bytes of shared memory that each warp needs for all of them. */
  static long bytesOfWarp(StageGroup group) {
    long bytes = 0;
    for (Stage stage : group.stages()) {
      bytes += stage instanceof Store store && suit(store) ? StoredRows.bytes(store.to()) : 0;
    }
    return bytes;
  }
}
