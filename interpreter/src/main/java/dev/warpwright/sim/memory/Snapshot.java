package dev.warpwright.sim.memory;

import dev.warpwright.ir.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the global buffers that a kernel writes held before it ran. */
public final class Snapshot {
  private final List<byte[]> arrays = new ArrayList<>();
  private final List<byte[]> before = new ArrayList<>();

  private Snapshot() {}

  /**
   * Takes one.
   *
   * @return null if one array is given for two buffers, of which one is written
   */
  public static @Nullable Snapshot of(
      List<Buffer> buffers, Set<Buffer> written, Function<Buffer, byte[]> arrays) {
    Snapshot snapshot = new Snapshot();
    for (Buffer b : buffers) {
      byte[] array = arrays.apply(b);
      if (written.contains(b)) {
        for (Buffer other : buffers) {
          if (other != b && arrays.apply(other) == array) {
            return null;
          }
        }
        snapshot.arrays.add(array);
        snapshot.before.add(array.clone());
      }
    }
    return snapshot;
  }

  /** Gives the buffers their old contents back. */
  public void restore() {
    for (int i = 0; i < arrays.size(); i++) {
      System.arraycopy(before.get(i), 0, arrays.get(i), 0, arrays.get(i).length);
    }
  }
}
