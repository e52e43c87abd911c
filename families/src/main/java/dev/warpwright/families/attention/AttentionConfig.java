package dev.warpwright.families.attention;

import dev.warpwright.base.UserError;
import dev.warpwright.workload.Attention;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How an attention is computed: a point of its space.
 *
 * @param tileRows rows of Q in a block, 16 for each warp that multiplies
 * @param tileKeys keys of a step
 * @param splits parts of an entry's keys, each a block's; more than one are combined by a second
 *     launch
 * @param threads of a block; all of them copy
 * @param stages tiles of keys and values that a block has room for; with more than one the next
 *     ones are under way while one is multiplied
 */
public record AttentionConfig(int tileRows, int tileKeys, int splits, int threads, int stages) {
  /** Rows of an instruction, and so of a warp. */
  static final int WARP_ROWS = 16;

  /** Columns of 16 are what an instruction takes along K. */
  private static final int KEYS = 16;

  static final int MOST_SPLITS = 128;
  private static final int MOST_ROWS = 128;
  private static final int MOST_KEYS = 128;
  private static final int MOST_THREADS = 256;
  private static final int MOST_STAGES = 8;

  private static final Pattern TEXT =
      Pattern.compile(
          "rows=(\\d{1,6}) keys=(\\d{1,6}) splits=(\\d{1,6}) threads=(\\d{1,6})"
              + " stages=(\\d{1,6})");

  /** Warps that multiply. */
  int warps() {
    return tileRows / WARP_ROWS;
  }

  /**
   * Checks that the point is one of an attention's space.
   *
   * @throws UserError if it is not; the message says why
   */
  public void check(Attention attention) {
    require(
        tileRows >= WARP_ROWS && tileRows <= MOST_ROWS && tileRows % WARP_ROWS == 0,
        "a tile of %d rows is no multiple of 16 up to %d",
        tileRows,
        MOST_ROWS);
    require(
        tileKeys >= KEYS && tileKeys <= MOST_KEYS && tileKeys % KEYS == 0,
        "a tile of %d keys is no multiple of 16 up to %d",
        tileKeys,
        MOST_KEYS);
    require(splits >= 1 && splits <= MOST_SPLITS, "%d splits are not 1 to %d", splits, MOST_SPLITS);
    require(
        threads % 32 == 0 && threads >= 32 * warps() && threads <= MOST_THREADS,
        "%d threads are not %d to %d, in whole warps",
        threads,
        32 * warps(),
        MOST_THREADS);
    require(stages >= 1 && stages <= MOST_STAGES, "%d stages are not 1 to %d", stages, MOST_STAGES);
    int page = attention.page();
    require(
        page == 0 || page % tileKeys == 0 || tileKeys % page == 0,
        "a tile of %d keys neither divides a page of %d nor consists of such",
        tileKeys,
        page);
    require(
        attention.type().bytes() == 2,
        "attention in %s has no kernel for GPUs; use f16 or bf16",
        attention.type());
  }

  private static void require(boolean holds, String what, Object... values) {
    if (!holds) {
      throw new UserError(String.format(Locale.ROOT, what, values));
    }
  }

  /**
   * Reads {@link #text()}.
   *
   * @return null if it is none
   */
  public static @Nullable AttentionConfig parse(String text) {
    Matcher form = TEXT.matcher(text);
    return form.matches()
        ? new AttentionConfig(
            Integer.parseInt(form.group(1)),
            Integer.parseInt(form.group(2)),
            Integer.parseInt(form.group(3)),
            Integer.parseInt(form.group(4)),
            Integer.parseInt(form.group(5)))
        : null;
  }

  /** In one line: {@code rows=16 keys=64 splits=8 threads=128 stages=3}. */
  public String text() {
    return String.format(
        Locale.ROOT,
        "rows=%d keys=%d splits=%d threads=%d stages=%d",
        tileRows,
        tileKeys,
        splits,
        threads,
        stages);
  }
}
