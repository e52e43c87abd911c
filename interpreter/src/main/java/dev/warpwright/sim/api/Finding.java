package dev.warpwright.sim.api;

import java.util.Objects;

/**
 * Something wrong in an execution.
 *
 * @param kind what is wrong
 * @param kernel name of the kernel or function
 * @param line line of the kernel's text form on which the statement is, from 1; 0 if unknown
 * @param statement text of the statement, on one line
 * @param who the thread or warp, empty where there are no threads
 * @param element the element concerned, as {@code buffer[i, j]}, or empty
 * @param detail the rest of the message
 */
public record Finding(
    Kind kind,
    String kernel,
    int line,
    String statement,
    String who,
    String element,
    String detail) {
  /** Kinds of findings. */
  public enum Kind {
    OUT_OF_BOUNDS("out of bounds"),
    MISALIGNED("misaligned vector access"),
    UNINITIALISED("read of an element that was never written"),
    RACE("data race"),
    BARRIER("misuse of a barrier"),
    DEADLOCK("deadlock"),
    PROXY("missing proxy fence"),
    INTRINSIC("misuse of an intrinsic"),
    RESOURCES("more than the target has"),
    ARITHMETIC("undefined arithmetic"),
    UNWRITTEN("element of the output that is never written"),
    RESULT("wrong result"),
    PIPE("misuse of a pipe or counter");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }
  }

  public Finding {
    Objects.requireNonNull(kind);
  }

  /** The finding on one line. */
  public String message() {
    StringBuilder text = new StringBuilder(kernel).append(": ").append(kind.text);
    if (!element.isEmpty()) {
      text.append(": ").append(element);
    }
    if (!detail.isEmpty()) {
      text.append(": ").append(detail);
    }
    if (!who.isEmpty()) {
      text.append(", by ").append(who);
    }
    if (!statement.isEmpty()) {
      text.append(line > 0 ? ", in line " + line + " '" : ", in '");
      text.append(statement).append('\'');
    }
    return text.toString();
  }
}
