package dev.warpwright.base.files;

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
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Files that are there whole or not at all: each is written under another name in the same folder,
 * brought to the disk, and then takes its place by a rename. What fails, a full disk for example,
 * leaves the former file as it was. All that this program writes goes through here.
 */
public final class StagedFiles {
  /** Files that are being written; an interrupted JVM deletes them when it ends. */
  private static final Set<Path> UNFINISHED = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> UNFINISHED.forEach(StagedFiles::delete)));
  }

  /** Writes the content of a file. */
  @FunctionalInterface
  public interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  private StagedFiles() {}

  /** Writes or replaces a file; its folder exists. */
  public static void write(Path target, Content content) throws IOException {
    writeAll(Map.of(target, content));
  }

  /**
   * Writes or replaces files that belong together: all are complete on the disk before the first
   * takes its place, so that none of them is new beside an old one because there was no room.
   *
   * @param files in the order in which they take their places
   */
  public static void writeAll(Map<Path, Content> files) throws IOException {
    Map<Path, Path> staged = new LinkedHashMap<>();
    try {
      for (Map.Entry<Path, Content> file : files.entrySet()) {
        stage(file.getKey().toAbsolutePath(), file.getValue(), staged);
      }
      for (Map.Entry<Path, Path> file : staged.entrySet()) {
        Files.move(
            file.getValue(),
            file.getKey(),
            StandardCopyOption.ATOMIC_MOVE,
            StandardCopyOption.REPLACE_EXISTING);
        UNFINISHED.remove(file.getValue());
      }
    } finally {
      for (Path temporary : staged.values()) {
        if (UNFINISHED.remove(temporary)) {
          delete(temporary);
        }
      }
    }
  }

  /** Writes under another name, which is in {@code staged} even if that fails. */
  private static void stage(Path target, Content content, Map<Path, Path> staged)
      throws IOException {
    FileChannel channel = null;
    while (channel == null) {
      // Not with the target's name in it, which may be as long as names can be.
      String name = Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), 36);
      Path temporary = target.resolveSibling(".warpwright-" + name + ".tmp");
      UNFINISHED.add(temporary);
      try {
        channel =
            FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        staged.put(target, temporary);
      } catch (FileAlreadyExistsException taken) {
        UNFINISHED.remove(temporary); // another process has this name: take another
      } catch (IOException e) {
        UNFINISHED.remove(temporary);
        throw e;
      }
    }
    try (FileChannel open = channel) {
      OutputStream buffered = new BufferedOutputStream(Channels.newOutputStream(open), 1 << 16);
      content.writeTo(buffered);
      buffered.flush();
      open.force(true); // a full disk may show only now
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      // What is left is hidden and small beside whatever made this fail.
    }
  }
}
