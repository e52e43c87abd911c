package dev.warpwright.cli;

import java.io.OutputStream;
import java.io.PrintStream;

/**
 * Performs command lines so that the JVM sees which classes they need; the launcher runs it to make
 * the caches from which later starts are faster.
 */
final class Training {
  private Training() {}

  /** Performs each argument, a command line with its words separated by spaces. */
  public static void main(String[] lines) {
    try (var nowhere = new PrintStream(OutputStream.nullOutputStream())) {
      Streams.out();
      Streams.err();
      for (String line : lines) {
        int code = Main.execute(nowhere, System.err, line.split(" ", -1));
        if (code != ExitCode.OK) {
          throw new IllegalArgumentException("'" + line + "' exits with " + code);
        }
      }
    }
  }
}
