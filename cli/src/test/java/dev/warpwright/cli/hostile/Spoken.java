package dev.warpwright.cli.hostile;

import dev.warpwright.cli.output.LiveProgress;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Standard error of a command, which knows of each line whether it tells of progress. */
final class Spoken extends PrintStream {
  private final ByteArrayOutputStream bytes;
  private int progress;
  private int others;
  private boolean endsWithProgress;

  Spoken() {
    this(new ByteArrayOutputStream());
  }

  private Spoken(ByteArrayOutputStream bytes) {
    super(bytes, true, StandardCharsets.UTF_8);
    this.bytes = bytes;
  }

  @Override
  public synchronized void println(@Nullable String line) {
    endsWithProgress =
        StackWalker.getInstance()
            .walk(
                frames ->
                    frames.anyMatch(
                        frame -> frame.getClassName().equals(LiveProgress.class.getName())));
    if (endsWithProgress) {
      progress++;
    } else {
      others++;
    }
    super.println(line);
  }

  /** Lines that tell of progress. */
  synchronized int progress() {
    return progress;
  }

  /** All other lines. */
  synchronized int others() {
    return others;
  }

  synchronized boolean endsWithProgress() {
    return endsWithProgress;
  }

  synchronized String text() {
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
