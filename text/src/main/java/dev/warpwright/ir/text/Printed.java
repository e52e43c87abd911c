package dev.warpwright.ir.text;

import java.util.Map;
import java.util.OptionalInt;

/** Printed text and where each node is in it. */
public final class Printed {
  private final String text;
  private final Map<Object, Integer> lines;

  Printed(String text, Map<Object, Integer> lines) {
    this.text = text;
    this.lines = lines;
  }

  /** {@return the text, which the parser reads; with a line of carets if something is marked} */
  public String text() {
    return text;
  }

  /**
   * {@return the line, from 1, on which the statement, expression, parameter or buffer begins; a
   * variable or buffer where it is declared} Nodes are told apart by identity; one that occurs
   * several times is where it occurs first. In a text with a mark, the line of carets is not
   * counted.
   *
   * @param node of what was printed; empty for any other
   */
  public OptionalInt line(Object node) {
    Integer line = lines.get(node);
    return line == null ? OptionalInt.empty() : OptionalInt.of(line);
  }

  @Override
  public String toString() {
    return text;
  }
}
