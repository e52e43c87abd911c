package dev.warpwright.base.files;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Supplier;

/** The bytes of a file. */
public final class FileBytes {
  /** Smaller files are read: a mapping costs more, and fails if the file is cut while in use. */
  private static final long MAP_FROM = 8 << 20;

  private FileBytes() {}

  /**
   * All bytes of a file, read-only, in native memory that lives as long as anyone refers to it.
   *
   * @throws UserError if there is no such file, it is a folder or empty, or it cannot be read
   */
  public static MemorySegment read(Path path) {
    if (!Files.exists(path)) {
      throw new UserError(show(path) + ": no such file");
    }
    if (Files.isDirectory(path)) {
      throw new UserError(show(path) + ": is a folder, not a file");
    }
    if (!Files.isRegularFile(path)) {
      throw new UserError(show(path) + ": is no regular file");
    }
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      long size = channel.size();
      if (size == 0) {
        throw new UserError(show(path) + ": the file is empty");
      }
      Arena arena = Arena.ofAuto();
      return size >= MAP_FROM
          ? channel.map(MapMode.READ_ONLY, 0, size, arena)
          : readAll(channel, arena.allocate(size, 64), path).asReadOnly();
    } catch (IOException e) {
      throw new UserError(show(path) + ": cannot be read: " + reason(e), e);
    }
  }

  /**
   * Does what reads bytes of mapped files. A file that is cut off meanwhile, or whose disk fails,
   * is an error in the midst of a computation, of which only the text of a message tells.
   *
   * @throws UserError if that happened
   */
  public static <T> T reading(Supplier<T> task) {
    try {
      return task.get();
    } catch (InternalError e) {
      if (String.valueOf(e.getMessage()).contains("unsafe memory access")) {
        throw new UserError(
            "a file of the model was cut off or its disk failed while it was read; load it again",
            e);
      }
      throw e;
    }
  }

  private static MemorySegment readAll(FileChannel channel, MemorySegment into, Path path)
      throws IOException {
    ByteBuffer buffer = into.asByteBuffer();
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        throw new UserError(show(path) + ": the file became shorter while it was read");
      }
    }
    return into;
  }

  /** A path as messages show it. */
  static String show(Path path) {
    return Names.printable(path.toString());
  }

  /** Why an operation failed, without the path that the exception repeats. */
  static String reason(IOException e) {
    return switch (e) {
      case java.nio.file.AccessDeniedException denied -> "permission denied";
      case java.nio.file.NoSuchFileException missing -> "no such file or folder";
      case java.nio.file.FileSystemException f when f.getReason() instanceof String why ->
          Names.printable(why);
      default -> {
        String message = e.getMessage();
        yield message == null ? e.getClass().getSimpleName() : Names.printable(message);
      }
    };
  }
}
