package dev.warpwright.perf.order;

import dev.warpwright.base.UserError;
import java.util.Locale;

/** Which block a full cache gives up. */
public enum CachePolicy {
  /** The one whose last use is longest ago. */
  LRU,

  /** The one that was loaded first. */
  FIFO,

  /**
   * The one whose next use is farthest away (Belady): no policy loads less, where all blocks have
   * the same size. It needs to know the future.
   */
  OPTIMAL;

  /** The word that {@link #parse} reads. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Reads {@code lru}, {@code fifo} or {@code optimal}.
   *
   * @throws UserError if it is none of them
   */
  public static CachePolicy parse(String text) {
    for (CachePolicy policy : values()) {
      if (policy.text().equals(text)) {
        return policy;
      }
    }
    throw new UserError("policy '" + text + "' is none of lru, fifo and optimal");
  }
}
