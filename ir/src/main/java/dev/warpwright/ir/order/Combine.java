package dev.warpwright.ir.order;

/** How the parts of a split-K GEMM come together. Either way gives the same bits. */
public enum Combine {
  /** Partial results go to memory, and a second grid adds them in the order of the parts. */
  WORKSPACE("workspace"),

  /** Each block adds its part to the result when the parts before it have been added. */
  TURNS("turns");

  private final String text;

  Combine(String text) {
    this.text = text;
  }

  /** {@return the word that {@link #parse} reads: {@code workspace} or {@code turns}} */
  public String text() {
    return text;
  }

  /**
   * {@return the one with this text}
   *
   * @param text as {@link #text()} gives it
   * @throws IllegalArgumentException if there is none
   */
  public static Combine parse(String text) {
    for (Combine combine : values()) {
      if (combine.text.equals(text)) {
        return combine;
      }
    }
    throw new IllegalArgumentException("parts are combined by 'workspace' or 'turns', not " + text);
  }
}
