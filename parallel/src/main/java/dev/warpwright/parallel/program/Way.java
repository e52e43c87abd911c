package dev.warpwright.parallel.program;

/** How devices share the work of a network. */
public enum Way {
  /** Each has some of the rows of the input, and all weights. */
  DATA("data parallel"),
  /** Each has all rows, and a part of the weights; partial sums are added over the devices. */
  TENSOR("tensor parallel");

  private final String text;

  Way(String text) {
    this.text = text;
  }

  /** For people. */
  public String text() {
    return text;
  }
}
