package dev.warpwright.ir.order;

/** Whose end a tile of the second grid waits for. */
public enum WaitPolicy {
  /** For the tile alone that is read. */
  TILE("tile"),
  /** For all tiles of the row that is read. */
  ROW("row"),
  /** For the whole first grid. */
  GRID("grid");

  private final String text;

  WaitPolicy(String text) {
    this.text = text;
  }

  /** {@return the word that {@link #parse} reads} */
  public String text() {
    return text;
  }

  /**
   * {@return the policy with this text}
   *
   * @param text as {@link #text()} gives it
   * @throws IllegalArgumentException if there is none
   */
  public static WaitPolicy parse(String text) {
    for (WaitPolicy policy : values()) {
      if (policy.text.equals(text)) {
        return policy;
      }
    }
    throw new IllegalArgumentException("one waits for 'tile', 'row' or 'grid', not " + text);
  }
}
