package dev.warpwright.cuda.compile;

import dev.warpwright.base.DeviceError;
import java.util.List;

/**
 * A compiler refused a source, or could not be run.
 *
 * <p>The message is one line and holds the first error; {@link #log()} is all that the compiler
 * printed.
 */
public final class CompileError extends DeviceError {
  private static final long serialVersionUID = 1L;

  private final String log;

  CompileError(String message, String log) {
    super(message);
    this.log = log;
  }

  /** What the compiler printed. */
  public String log() {
    return log;
  }

  /** The error for a log, whose first error becomes part of the message. */
  static CompileError fromLog(String compiler, String arch, String failure, String log) {
    List<String> errors =
        log.lines()
            .filter(line -> line.contains("error") || line.contains("fatal"))
            .filter(line -> !line.contains("detected in the compilation"))
            .map(String::strip)
            .toList();
    String first =
        errors.isEmpty()
            ? log.lines().map(String::strip).filter(line -> !line.isEmpty()).findFirst().orElse("")
            : errors.getFirst();
    String more =
        switch (errors.size()) {
          case 0, 1 -> "";
          case 2 -> " (and 1 more error)";
          default -> " (and " + (errors.size() - 1) + " more errors)";
        };
    String detail = first.isEmpty() ? failure : first + more;
    return new CompileError(compiler + " cannot compile for " + arch + ": " + detail, log);
  }
}
