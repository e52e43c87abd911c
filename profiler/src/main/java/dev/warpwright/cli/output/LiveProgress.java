package dev.warpwright.cli.output;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Progress on standard error. In a terminal what changes is one line at the bottom, drawn over
 * itself; in files and pipes there are plain lines, now and then.
 */
public final class LiveProgress implements Progress {
  private static final String PREFIX = "warpwright: ";
  private static final String CLEAR = "\r\u001b[K";
  private static final int USUAL_COLUMNS = 80;
  private static final long BETWEEN_LINES = 5_000_000_000L;
  private static final long BETWEEN_DRAWINGS = 100_000_000L;

  private final PrintStream err;
  private final boolean terminal;
  private final LongSupplier nanos;
  private int columns;
  private @Nullable String drawn;
  private long last;

  /**
   * Progress on a stream.
   *
   * @param terminal whether lines can be drawn over
   */
  public LiveProgress(PrintStream err, boolean terminal) {
    this(err, terminal, terminal ? 0 : USUAL_COLUMNS, System::nanoTime);
  }

  /**
   * The same with a clock.
   *
   * @param columns of the terminal; 0 to ask it when that is needed
   */
  LiveProgress(PrintStream err, boolean terminal, int columns, LongSupplier nanos) {
    this.err = err;
    this.terminal = terminal;
    this.columns = columns;
    this.nanos = nanos;
    this.last = nanos.getAsLong() - BETWEEN_LINES;
  }

  /** Whether standard error is a terminal, as the launcher says. */
  public static boolean isTerminal() {
    return Boolean.getBoolean("warpwright.terminal");
  }

  @Override
  public synchronized void say(String line) {
    if (drawn != null) {
      err.print(CLEAR);
    }
    err.println(PREFIX + OneLine.cut(line));
    if (drawn != null) {
      err.print(drawn);
      err.flush();
    }
  }

  @Override
  public synchronized void status(String line, boolean news) {
    long now = nanos.getAsLong();
    if (!terminal) {
      if (news || now - last >= BETWEEN_LINES) {
        last = now;
        say(line);
      }
      return;
    }
    if (drawn == null) {
      // However the program ends, what the shell prints next begins a line.
      Runtime.getRuntime().addShutdownHook(new Thread(this::end));
    }
    if (drawn == null || news || now - last >= BETWEEN_DRAWINGS) {
      last = now;
      drawn = cut(PREFIX + OneLine.of(line));
      err.print(CLEAR + drawn);
      err.flush();
    }
  }

  /** Leaves the line that is drawn as it is; what comes next begins a new one. */
  public synchronized void end() {
    if (drawn != null) {
      drawn = null;
      err.println();
    }
  }

  /** A line that were longer than the terminal is wide could not be drawn over. */
  private String cut(String line) {
    if (columns == 0) {
      columns = ask();
    }
    return line.length() < columns ? line : line.substring(0, Math.max(1, columns - 1));
  }

  private static int ask() {
    try {
      Process process =
          new ProcessBuilder("stty", "size")
              .redirectInput(Path.of("/dev/tty").toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String size =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      int columns = Integer.parseInt(size.substring(size.indexOf(' ') + 1));
      return columns > 0 ? columns : USUAL_COLUMNS;
    } catch (IOException | NumberFormatException e) {
      return USUAL_COLUMNS;
    }
  }
}
