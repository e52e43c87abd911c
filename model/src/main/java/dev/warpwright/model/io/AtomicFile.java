package dev.warpwright.model.io;

import dev.warpwright.ir.UserError;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/** Writes a file all or nothing: into a temporary file beside it, which then takes its place. */
public final class AtomicFile {
  /** Temporary files that are being written; an interrupted JVM deletes them when it ends. */
  private static final Set<Path> UNFINISHED = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(AtomicFile::deleteUnfinished));
  }

  /** Writes the content of a file. */
  @FunctionalInterface
  public interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  private AtomicFile() {}

  /**
   * Writes or replaces a file. If anything fails, an existing file is as it was and no temporary
   * one is left. What a symbolic link points to is replaced, not the link; devices and pipes are
   * written directly.
   *
   * @throws UserError if the file cannot be written, for example because the disk is full
   */
  public static void write(Path path, Content content) {
    try {
      if (Files.isDirectory(path)) {
        throw new UserError("cannot write " + FileBytes.show(path) + ": it is a folder");
      }
      if (Files.exists(path) && !Files.isRegularFile(path)) {
        try (OutputStream out = Files.newOutputStream(path, StandardOpenOption.WRITE)) {
          writeBuffered(out, content);
        }
        return;
      }
      Path target = Files.isSymbolicLink(path) ? linkTarget(path) : path.toAbsolutePath();
      if (Files.exists(target) && !Files.isWritable(target)) {
        throw new UserError("cannot write " + FileBytes.show(path) + ": it is write-protected");
      }
      replace(target, content);
    } catch (IOException e) {
      throw new UserError("cannot write " + FileBytes.show(path) + ": " + FileBytes.reason(e), e);
    }
  }

  private static void replace(Path target, Content content) throws IOException {
    Path temporary = null;
    try {
      FileChannel channel = null;
      while (channel == null) {
        String suffix = Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), 36);
        temporary = target.resolveSibling("." + target.getFileName() + "." + suffix + ".tmp");
        UNFINISHED.add(temporary);
        try {
          channel =
              FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        } catch (FileAlreadyExistsException taken) {
          UNFINISHED.remove(temporary);
          channel = null; // another process has this name: take another
        }
      }
      try (FileChannel open = channel) {
        writeBuffered(Channels.newOutputStream(open), content);
        open.force(true); // a full disk may show only now
      }
      Files.move(
          temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      UNFINISHED.remove(temporary);
      temporary = null;
    } finally {
      if (temporary != null) {
        UNFINISHED.remove(temporary);
        Files.deleteIfExists(temporary);
      }
    }
  }

  private static void deleteUnfinished() {
    for (Path file : UNFINISHED) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        // The JVM ends; there is nobody left to tell.
      }
    }
  }

  private static void writeBuffered(OutputStream out, Content content) throws IOException {
    OutputStream buffered = new BufferedOutputStream(out, 1 << 16);
    content.writeTo(buffered);
    buffered.flush();
  }

  /** Where a link leads; the last step need not exist yet. */
  private static Path linkTarget(Path link) throws IOException {
    return Files.exists(link)
        ? link.toRealPath()
        : link.toAbsolutePath().resolveSibling(Files.readSymbolicLink(link));
  }
}
