package dev.warpwright.ir.order;

import dev.warpwright.base.UserError;
import java.util.Locale;

/**
 * How the steps along K of a grid's tiles are shared out to workers: blocks, or clusters of blocks,
 * that run at the same time.
 *
 * <p>The text form is a word and, for some, a colon and a number: {@code parts:4}.
 */
public sealed interface WorkDivision {
  /** A tile is one worker's. */
  record Whole() implements WorkDivision {}

  /**
   * Each tile's steps are divided into so many parts of nearly equal length.
   *
   * @param parts of each tile, 2 to {@value #MAX_PARTS}
   */
  record Parts(int parts) implements WorkDivision {
    /** Checks the number of parts. */
    public Parts {
      if (parts < 2 || parts > MAX_PARTS) {
        throw new IllegalArgumentException(parts + " parts of a tile; 2 to " + MAX_PARTS);
      }
    }
  }

  /**
   * Whole tiles for as many waves as there are, but for the last {@code waves} full ones; the steps
   * of the tiles of these and of the last, incomplete wave are shared out evenly, so that a
   * worker's share may begin and end inside a tile.
   *
   * @param waves full ones that are shared out, 0 or more
   */
  record Stream(int waves) implements WorkDivision {
    /** Checks the number of waves. */
    public Stream {
      if (waves < 0) {
        throw new IllegalArgumentException(waves + " waves");
      }
    }
  }

  /** Most parts of a tile. */
  int MAX_PARTS = 255;

  /** {@return the word that {@link #parse} reads} */
  default String text() {
    return switch (this) {
      case Whole() -> "whole";
      case Parts(int parts) -> "parts:" + parts;
      case Stream(int waves) -> "stream:" + waves;
    };
  }

  /**
   * Reads the text form.
   *
   * @param text as {@link #text()} gives it
   * @return the division
   * @throws UserError if it is none
   */
  static WorkDivision parse(String text) {
    if (text.equals("whole")) {
      return new Whole();
    }
    if (text.matches("parts:\\d{1,3}")) {
      int parts = Integer.parseInt(text.substring("parts:".length()));
      if (parts >= 2 && parts <= MAX_PARTS) {
        return new Parts(parts);
      }
    }
    if (text.matches("stream:\\d{1,4}")) {
      return new Stream(Integer.parseInt(text.substring("stream:".length())));
    }
    throw new UserError(
        String.format(
            Locale.ROOT,
            "work is divided as whole, parts:2 to parts:%d or stream:WAVES, not '%s'",
            MAX_PARTS,
            text));
  }
}
