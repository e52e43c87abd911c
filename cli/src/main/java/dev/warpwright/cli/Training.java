package dev.warpwright.cli;

import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.output.Streams;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Performs command lines so that the JVM sees which classes they need; the launcher runs it to make
 * the caches from which later starts are faster.
 */
final class Training {
  private Training() {}

  /**
   * Performs the command lines, which are separated by {@code --}.
   *
   * @throws IllegalArgumentException if one does not succeed
   */
  public static void main(String[] args) {
    Streams.out();
    Streams.err();
    try (var nowhere = new PrintStream(OutputStream.nullOutputStream())) {
      var line = new ArrayList<String>();
      for (String word : args) {
        if (word.equals("--")) {
          perform(nowhere, line);
          line.clear();
        } else {
          line.add(word);
        }
      }
      perform(nowhere, line);
    }
  }

  private static void perform(PrintStream nowhere, List<String> line) {
    int code = Main.execute(nowhere, System.err, line.toArray(String[]::new));
    if (code != ExitCode.OK) {
      throw new IllegalArgumentException(line + " exits with " + code);
    }
  }
}
