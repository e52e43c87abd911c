package dev.warpwright.cli.output;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Standard output and standard error as the command uses them. */
public final class Streams {
  private Streams() {}

  /** Standard output in UTF-8 whatever the locale, as JSON wants it. */
  public static PrintStream out() {
    return stream(FileDescriptor.out);
  }

  /**
   * Standard error in UTF-8.
   *
   * <p>The launcher starts Java with a filter on file descriptor 2, because Java itself writes a
   * warning there that says nothing to our users; it keeps the real standard error open and tells
   * its number in {@code warpwright.stderr}. What we write goes there, not through the filter.
   */
  public static PrintStream err() {
    Integer number = Integer.getInteger("warpwright.stderr");
    if (number == null) {
      return stream(FileDescriptor.err);
    }
    try {
      var constructor = FileDescriptor.class.getDeclaredConstructor(int.class);
      constructor.setAccessible(true);
      return stream(constructor.newInstance(number));
    } catch (ReflectiveOperationException | RuntimeException e) {
      return stream(FileDescriptor.err);
    }
  }

  private static PrintStream stream(FileDescriptor file) {
    return new PrintStream(
        new BufferedOutputStream(new FileOutputStream(file), 8192), true, StandardCharsets.UTF_8);
  }
}
