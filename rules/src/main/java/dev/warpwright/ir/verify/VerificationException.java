package dev.warpwright.ir.verify;

import java.util.List;

/** A program that ought to be well formed is not: an error of the pass that made it. */
public final class VerificationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient List<Problem> problems;

  VerificationException(String message, List<Problem> problems) {
    super(message);
    this.problems = List.copyOf(problems);
  }

  /** {@return all problems, in the order in which they were found} */
  public List<Problem> problems() {
    return problems;
  }
}
