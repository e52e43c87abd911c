package dev.warpwright.measure.data;

import dev.warpwright.ir.Param;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.NdArray;
import dev.warpwright.workload.AttentionCache;
import dev.warpwright.workload.AttentionReference;
import java.util.List;

/** Random arguments of attention by the names of its buffers, and what should become of them. */
public final class AttentionData {
  /** Scores then differ much, so that weights do, and maxima move from tile to tile. */
  private static final double QUERIES = 6;

  private AttentionData() {}

  /**
   * Random arrays; lengths and table are the cache's, what no entry has a key for is not a number,
   * and the result is poisoned.
   */
  public static Arguments of(AttentionCache cache, List<? extends Param> params, long seed) {
    Arguments arguments = Arguments.random(params, seed);
    NdArray q = arguments.get("Q");
    for (int i = 0; i < q.size(); i++) {
      q.setElement(i, q.element(i) * QUERIES);
    }
    if (params.stream().anyMatch(param -> param.name().equals("lengths"))) {
      put(arguments.get("lengths"), cache.lengths());
    }
    if (cache.attention().isPaged()) {
      put(arguments.get("table"), cache.table());
    }
    boolean[] used = cache.used();
    int d = cache.attention().headSize();
    for (String name : List.of("K", "V")) {
      NdArray array = arguments.get(name);
      for (int i = 0; i < used.length * d; i++) {
        if (!used[i / d]) {
          array.setElement(i, Double.NaN);
        }
      }
    }
    for (String result : List.of("O", "Y")) {
      if (params.stream().anyMatch(param -> param.name().equals(result))) {
        arguments.get(result).poison();
      }
    }
    return arguments;
  }

  private static void put(NdArray array, int[] values) {
    for (int i = 0; i < values.length; i++) {
      array.setIntegerElement(i, values[i]);
    }
  }

  /** What O should be. */
  public static AttentionReference reference(AttentionCache cache, Arguments arguments) {
    return AttentionReference.of(
        cache,
        arguments.get("Q").toDoubles(),
        arguments.get("K").toDoubles(),
        arguments.get("V").toDoubles());
  }

  /** What Y should be, of what O should. */
  public static AttentionReference projected(
      AttentionReference attended, AttentionCache cache, Arguments arguments) {
    return attended.projected(
        cache.attention(), arguments.get("W").toDoubles(), arguments.get("X").toDoubles());
  }
}
