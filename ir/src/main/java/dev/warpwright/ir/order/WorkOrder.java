package dev.warpwright.ir.order;

/** In which order the work of both grids is done. */
public enum WorkOrder {
  /** All tiles of the first, then all of the second. */
  SEQUENCE("sequence"),
  /** A row of tiles of the first, then the same row of the second. */
  ROWS("rows");

  private final String text;

  WorkOrder(String text) {
    this.text = text;
  }

  /** {@return the word that {@link #parse} reads} */
  public String text() {
    return text;
  }

  /**
   * {@return the order with this text}
   *
   * @param text as {@link #text()} gives it
   * @throws IllegalArgumentException if there is none
   */
  public static WorkOrder parse(String text) {
    for (WorkOrder order : values()) {
      if (order.text.equals(text)) {
        return order;
      }
    }
    throw new IllegalArgumentException("work is in order 'sequence' or 'rows', not " + text);
  }
}
