package dev.warpwright.schedule.error;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.text.IrPrinter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A schedule primitive refused: one of its numbered requirements does not hold. The function is as
 * it was before.
 */
public final class ScheduleError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String primitive;
  private final int requirement;
  private final String reason;
  private final transient PrimFunc func;
  private final transient @Nullable Stmt culprit;

  /**
   * Makes the error.
   *
   * @param primitive name of the primitive, as a method of {@code Schedule}
   * @param requirement its number in the primitive's documentation
   * @param reason one line
   * @param func the function that the primitive was applied to
   * @param culprit the statement of {@code func} that is at fault, if it is one
   */
  public ScheduleError(
      String primitive, int requirement, String reason, PrimFunc func, @Nullable Stmt culprit) {
    this.primitive = primitive;
    this.requirement = requirement;
    this.reason = reason;
    this.func = func;
    this.culprit = culprit;
  }

  /** One line, then the function with the culprit underlined. */
  @Override
  public String getMessage() {
    return summary() + "\n" + program();
  }

  /**
   * {@return one line: the primitive, what does not hold, and which of its requirements that is}
   */
  public String summary() {
    return primitive
        + ": "
        + reason
        + " (requirement "
        + requirement
        + " of docs/primitives.md#"
        + primitive.toLowerCase(Locale.ROOT)
        + ")";
  }

  private String program() {
    IrPrinter printer = culprit == null ? new IrPrinter() : IrPrinter.withMark(culprit);
    return printer.print(func).text();
  }

  /** {@return the name of the primitive's method in {@code Schedule}} */
  public String primitive() {
    return primitive;
  }

  /** {@return which of the primitive's numbered requirements does not hold} */
  public int requirement() {
    return requirement;
  }

  /** {@return what does not hold, in a few words} */
  public String reason() {
    return reason;
  }

  /** {@return the function that the primitive was called on} */
  public PrimFunc func() {
    return func;
  }

  /** {@return the statement that is in the way; null if it is none} */
  public @Nullable Stmt culprit() {
    return culprit;
  }
}
