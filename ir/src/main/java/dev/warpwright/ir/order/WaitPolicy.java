package dev.warpwright.ir.order;

import dev.warpwright.base.UserError;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Whose end a tile of the second grid waits for.
 *
 * @param part of the first grid
 * @param rows of tiles that are waited for together; 1 but for {@link Part#ROWS}
 */
public record WaitPolicy(Part part, int rows) {
  /** Parts of the first grid. */
  public enum Part {
    /** Each tile that is read, when it is read. */
    TILE,
    /** All tiles of some rows, one of which is read. */
    ROWS,
    /** The whole first grid. */
    GRID
  }

  /** Attribute of a loop over the work of two grids, and of its kernel: the policy's text. */
  public static final String WAIT = "wait";

  /** For the tiles alone that are read, one after the other. */
  public static final WaitPolicy TILE = new WaitPolicy(Part.TILE, 1);

  /** For all tiles of the row that is read. */
  public static final WaitPolicy ROW = new WaitPolicy(Part.ROWS, 1);

  /** For the whole first grid. */
  public static final WaitPolicy GRID = new WaitPolicy(Part.GRID, 1);

  /** Those without a number. */
  public static final List<WaitPolicy> PLAIN = List.of(TILE, ROW, GRID);

  private static final Pattern BATCH = Pattern.compile("rows:([1-9]\\d{0,4})");

  /** Checks the number of rows. */
  public WaitPolicy {
    if (rows < 1 || rows > 1 && part != Part.ROWS) {
      throw new IllegalArgumentException(part + " of " + rows + " rows");
    }
  }

  /**
   * {@return waiting for all tiles of a batch of rows, one of which is read}
   *
   * @param rows of tiles of a batch, 1 at least; the last batch may have fewer
   */
  public static WaitPolicy rows(int rows) {
    return new WaitPolicy(Part.ROWS, rows);
  }

  /** {@return the word that {@link #parse} reads} */
  public String text() {
    return part == Part.ROWS
        ? rows == 1 ? "row" : "rows:" + rows
        : part.name().toLowerCase(Locale.ROOT);
  }

  /**
   * {@return the policy with this text}
   *
   * @param text as {@link #text()} gives it
   * @throws UserError if there is none
   */
  public static WaitPolicy parse(String text) {
    for (WaitPolicy policy : PLAIN) {
      if (policy.text().equals(text)) {
        return policy;
      }
    }
    Matcher batch = BATCH.matcher(text);
    if (batch.matches()) {
      return rows(Integer.parseInt(batch.group(1)));
    }
    throw new UserError("wait=" + text + ": a tile waits for 'tile', 'row', 'rows:N' or 'grid'");
  }
}
