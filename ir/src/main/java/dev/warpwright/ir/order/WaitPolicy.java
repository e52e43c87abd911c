package dev.warpwright.ir.order;

/** Whose end a tile of the second grid waits for. */
public enum WaitPolicy {
  TILE("tile"),
  ROW("row"),
  GRID("grid");

  private final String text;

  WaitPolicy(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }

  /**
   * The policy with this text.
   *
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
