package dev.warpwright.measure.data;

import dev.warpwright.base.UserError;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Files of text in UTF-8 that a command is given by name. */
public final class TextFile {
  private TextFile() {}

  /** What reads an open file. */
  @FunctionalInterface
  public interface Reading<T> {
    /** Reads from the beginning; the caller closes. */
    T from(BufferedReader in) throws IOException;
  }

  /**
   * The lines of a file, without what ends them.
   *
   * @throws UserError if the file is no text
   * @throws UncheckedIOException if it cannot be read
   */
  public static List<String> lines(Path file) {
    return read(file, in -> in.lines().toList());
  }

  /**
   * Reads a file.
   *
   * @throws UserError if the file is no text
   * @throws UncheckedIOException if it cannot be read
   */
  public static <T> T read(Path file, Reading<T> reading) {
    // A device may have no end, and a pipe no writer.
    if (Files.isDirectory(file)) {
      throw new UserError(file + ": is a folder; give a file");
    }
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new UserError(file + ": is no regular file");
    }
    try (BufferedReader in = Files.newBufferedReader(file)) {
      return reading.from(in);
    } catch (IOException e) {
      throw failure(file, e);
    } catch (UncheckedIOException e) {
      throw e.getCause() instanceof IOException cause ? failure(file, cause) : e;
    }
  }

  private static RuntimeException failure(Path file, IOException e) {
    return e instanceof MalformedInputException
        ? new UserError(file + ": is no text")
        : new UncheckedIOException(e);
  }
}
