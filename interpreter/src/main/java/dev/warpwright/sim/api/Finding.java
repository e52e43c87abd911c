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
    /** An index beyond its dimension's extent. */
    OUT_OF_BOUNDS("out of bounds"),
    /** A vector access to an address that is no multiple of its size. */
    MISALIGNED("misaligned vector access"),
    /** A read of an element that nothing has written. */
    UNINITIALISED("read of an element that was never written"),
    /** Two accesses to one element, one of them a write, that nothing orders. */
    RACE("data race"),
    /**
     * A barrier that some threads miss, or reach twice; or that is missing, or relaxed, where a
     * block may end before something that still uses its shared memory.
     */
    BARRIER("misuse of a barrier"),
    /** Threads that wait for what no thread will do. */
    DEADLOCK("deadlock"),
    /**
     * Memory written by threads and read by an asynchronous unit, or the other way round, without
     * the fence between.
     */
    PROXY("missing proxy fence"),
    /** Operands that an instruction does not take. */
    INTRINSIC("misuse of an intrinsic"),
    /** More memory, threads or registers than the target has. */
    RESOURCES("more than the target has"),
    /** A division by zero, or a shift by more than the width. */
    ARITHMETIC("undefined arithmetic"),
    /** An element of an output that nothing writes. */
    UNWRITTEN("element of the output that is never written"),
    /** A result that is not that of the computation. */
    RESULT("wrong result"),
    /** Stages or counters that are used otherwise than they were declared. */
    PIPE("misuse of a pipe or counter");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    /** {@return what kind it is, in a few words} */
    public String text() {
      return text;
    }
  }

  /** Checks that there is a kind. */
  public Finding {
    Objects.requireNonNull(kind);
  }

  /** {@return the finding on one line} */
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
