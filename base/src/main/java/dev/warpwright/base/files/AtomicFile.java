package dev.warpwright.base.files;

import dev.warpwright.base.UserError;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Writes files that users name: all or nothing, as {@link StagedFiles} does, or a {@link
 * UserError}.
 */
public final class AtomicFile {
  private AtomicFile() {}

  /**
   * Writes or replaces a file. If anything fails, an existing file is as it was and no temporary
   * one is left. What a symbolic link points to is replaced, not the link; devices and pipes are
   * written directly.
   *
   * @throws UserError if the file cannot be written, for example because the disk is full
   */
  public static void write(Path path, StagedFiles.Content content) {
    try {
      if (Files.exists(path) && !Files.isRegularFile(path) && !Files.isDirectory(path)) {
        try (OutputStream out =
            new BufferedOutputStream(Files.newOutputStream(path, StandardOpenOption.WRITE))) {
          content.writeTo(out);
        }
        return;
      }
      StagedFiles.write(target(path), content);
    } catch (IOException e) {
      throw failure(path, e);
    }
  }

  /**
   * Writes or replaces files of one folder that belong together: if one cannot be written, all are
   * as they were.
   *
   * @param folder made if it is not there
   * @param files content by name, in the order in which they take their places
   * @throws UserError if the folder or a file cannot be written
   */
  public static void writeAll(Path folder, Map<String, byte[]> files) {
    try {
      Files.createDirectories(folder);
      Map<Path, StagedFiles.Content> content = new LinkedHashMap<>();
      for (Map.Entry<String, byte[]> file : files.entrySet()) {
        byte[] bytes = file.getValue();
        content.put(target(folder.resolve(file.getKey())), out -> out.write(bytes));
      }
      StagedFiles.writeAll(content);
    } catch (FileAlreadyExistsException e) {
      throw new UserError(
          "cannot write to " + FileBytes.show(folder) + ": it is no folder and cannot be made one",
          e);
    } catch (IOException e) {
      throw failure(folder, e);
    }
  }

  /** The file that is replaced, which may be where a link leads. */
  private static Path target(Path path) throws IOException {
    if (Files.isDirectory(path)) {
      throw new UserError("cannot write " + FileBytes.show(path) + ": it is a folder");
    }
    Path target = Files.isSymbolicLink(path) ? linkTarget(path) : path.toAbsolutePath();
    if (Files.exists(target) && !Files.isWritable(target)) {
      throw new UserError("cannot write " + FileBytes.show(path) + ": it is write-protected");
    }
    return target;
  }

  private static UserError failure(Path path, IOException e) {
    return new UserError("cannot write " + FileBytes.show(path) + ": " + FileBytes.reason(e), e);
  }

  /** Where a link leads; the last step need not exist yet. */
  private static Path linkTarget(Path link) throws IOException {
    return Files.exists(link)
        ? link.toRealPath()
        : link.toAbsolutePath().resolveSibling(Files.readSymbolicLink(link));
  }
}
