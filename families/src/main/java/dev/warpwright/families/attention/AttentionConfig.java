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
 * @param splits parts of an entry's keys, each a block's; more than one are combined
 * @param threads of a block; all of them copy
 * @param stages tiles of keys and values that a block has room for; with more than one the next
 *     ones are under way while one is multiplied. Of wgmma K and V have a stage each
 * @param instruction what multiplies
 * @param blocks that go from tile to tile of rows, one on each SM, with copies for the next one
 *     under way; 0 if each tile is a block's
 * @param combine what combines parts
 */
public record AttentionConfig(
    int tileRows,
    int tileKeys,
    int splits,
    int threads,
    int stages,
    Instruction instruction,
    int blocks,
    Combine combine) {
  /** What multiplies. */
  public enum Instruction {
    /** Warps of 16 rows, of any head and cache; operands are copied by all threads. */
    MMA,
    /** Warpgroups of 64 rows, whose operands another warp copies by TMA. */
    WGMMA;

    /** As commands have it. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What combines the parts of an entry's keys. */
  public enum Combine {
    /** A second launch. */
    LAUNCH,
    /** Their blocks, which are a cluster. */
    CLUSTER,
    /** The block that is done last. */
    LAST;

    /** As commands have it. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Rows of an instruction, and so of a warp. */
  static final int WARP_ROWS = 16;

  /** Columns of 16 are what an instruction takes along K. */
  private static final int KEYS = 16;

  static final int MOST_SPLITS = 128;
  private static final int MOST_ROWS = 128;
  private static final int MOST_KEYS = 128;
  private static final int MOST_THREADS = 256;
  private static final int MOST_STAGES = 8;

  /** Of a warpgroup. */
  static final int GROUP_ROWS = 64;

  private static final int GROUP_THREADS = 128;
  private static final int GROUP_KEYS = 32;
  private static final int MOST_GROUP_ROWS = 192;
  private static final int PANEL = 64;

  private static final Pattern TEXT =
      Pattern.compile(
          "rows=(\\d{1,6}) keys=(\\d{1,6}) splits=(\\d{1,6}) threads=(\\d{1,6})"
              + " stages=(\\d{1,6})( by=wgmma)?( blocks=(\\d{1,6}))?( combine=(cluster|last))?");

  /** One by {@code mma.sync}. */
  public AttentionConfig(int tileRows, int tileKeys, int splits, int threads, int stages) {
    this(tileRows, tileKeys, splits, threads, stages, Instruction.MMA, 0, Combine.LAUNCH);
  }

  /** One by wgmma, a warpgroup for 64 rows. */
  public static AttentionConfig wgmma(int tileRows, int tileKeys, int stages) {
    int threads = GROUP_THREADS * (tileRows / GROUP_ROWS + 1);
    return new AttentionConfig(
        tileRows, tileKeys, 1, threads, stages, Instruction.WGMMA, 0, Combine.LAUNCH);
  }

  /** The same with keys in so many parts. */
  public AttentionConfig withSplits(int newSplits) {
    return new AttentionConfig(
        tileRows, tileKeys, newSplits, threads, stages, instruction, blocks, combine);
  }

  /** The same by so many blocks. */
  public AttentionConfig withBlocks(int newBlocks) {
    return new AttentionConfig(
        tileRows, tileKeys, splits, threads, stages, instruction, newBlocks, combine);
  }

  /** The same with parts that are combined so. */
  public AttentionConfig combined(Combine by) {
    return new AttentionConfig(
        tileRows, tileKeys, splits, threads, stages, instruction, blocks, by);
  }

  /** Whether the blocks of an entry's parts are a cluster. */
  public boolean inCluster() {
    return combine == Combine.CLUSTER;
  }

  /** Whether the parts are launched alone, and others combine them. */
  boolean hasLaunchBehind() {
    return splits > 1 && combine == Combine.LAUNCH;
  }

  boolean isForWarpgroups() {
    return instruction == Instruction.WGMMA;
  }

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
        attention.type().bytes() == 2,
        "attention in %s has no kernel for GPUs; use f16 or bf16",
        attention.type());
    require(combine != Combine.LAST || splits > 1, "combine=last: give splits=2 or more");
    require(
        !inCluster() || splits > 1 && splits <= ClusterParts.MOST,
        "combine=cluster: give splits=2 to %d",
        ClusterParts.MOST);
    require(
        !inCluster() || !isForWarpgroups() || tileRows == GROUP_ROWS,
        "combine=cluster: by=wgmma takes rows=%d",
        GROUP_ROWS);
    if (isForWarpgroups()) {
      checkGroups(attention);
      return;
    }
    require(blocks == 0, "blocks=%d: blocks that go from tile to tile are for by=wgmma", blocks);
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
  }

  private void checkGroups(Attention attention) {
    require(
        tileRows % GROUP_ROWS == 0 && tileRows >= GROUP_ROWS && tileRows <= MOST_GROUP_ROWS,
        "a tile of %d rows is no multiple of 64 up to %d, which by=wgmma takes",
        tileRows,
        MOST_GROUP_ROWS);
    require(
        tileKeys % GROUP_KEYS == 0 && tileKeys >= GROUP_KEYS && tileKeys <= MOST_KEYS,
        "a tile of %d keys is no multiple of 32 up to %d, which by=wgmma takes",
        tileKeys,
        MOST_KEYS);
    require(
        attention.headSize() % PANEL == 0 && attention.headSize() <= 2 * PANEL,
        "by=wgmma takes heads of 64 or 128, not %d",
        attention.headSize());
    require(!attention.isPaged(), "by=wgmma takes no pages");
    require(splits >= 1 && splits <= MOST_SPLITS, "%d splits are not 1 to %d", splits, MOST_SPLITS);
    require(
        blocks == 0 || splits == 1,
        "splits=%d blocks=%d: blocks that go from tile to tile have all keys",
        splits,
        blocks);
    require(
        threads == GROUP_THREADS * (tileRows / GROUP_ROWS + 1),
        "by=wgmma has %d threads for %d rows, not %d",
        GROUP_THREADS * (tileRows / GROUP_ROWS + 1),
        tileRows,
        threads);
    require(stages >= 2 && stages <= MOST_STAGES, "%d stages are not 2 to %d", stages, MOST_STAGES);
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
            Integer.parseInt(form.group(5)),
            form.group(6) == null ? Instruction.MMA : Instruction.WGMMA,
            form.group(8) == null ? 0 : Integer.parseInt(form.group(8)),
            form.group(10) == null
                ? Combine.LAUNCH
                : Combine.valueOf(form.group(10).toUpperCase(Locale.ROOT)))
        : null;
  }

  /** In one line: {@code rows=16 keys=64 splits=8 threads=128 stages=3}. */
  public String text() {
    return String.format(
        Locale.ROOT,
        "rows=%d keys=%d splits=%d threads=%d stages=%d%s%s%s",
        tileRows,
        tileKeys,
        splits,
        threads,
        stages,
        isForWarpgroups() ? " by=wgmma" : "",
        blocks == 0 ? "" : " blocks=" + blocks,
        combine == Combine.LAUNCH ? "" : " combine=" + combine.text());
  }
}
