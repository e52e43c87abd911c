package dev.warpwright.cli.export;

import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The folder that an export goes to. It may be somebody's project, with a {@code main.cu} and a
 * {@code CMakeLists.txt} of its own: what an export did not write, or what was changed since, is
 * not replaced unless that is asked for. A file of checksums, in the form that {@code sha256sum -c}
 * reads, says what exports have written.
 */
final class ExportFolder {
  static final String WRITTEN = ".warpwright-export.sha256";

  private final Path folder;

  /**
   * A folder that need not exist.
   *
   * @throws UserError if it can be none to export to
   */
  ExportFolder(Path folder) {
    if (folder.toString().isEmpty()) {
      throw new UserError("-o '': name a folder; . is the one you are in");
    }
    if (folder.toAbsolutePath().normalize().getNameCount() == 0) {
      throw new UserError("-o " + folder + ": the root of the file system is no place for sources");
    }
    if (Files.exists(folder) && !Files.isDirectory(folder)) {
      throw new UserError("-o " + folder + ": it is a file; name a folder");
    }
    this.folder = folder;
  }

  /**
   * Writes the files, all or none.
   *
   * @param force also in place of files that are not an export's
   * @throws UserError that names the files that would be lost, or why none could be written
   */
  void write(Map<String, byte[]> files, boolean force) {
    Map<String, String> written = written();
    if (!force) {
      List<String> foreign = new ArrayList<>();
      files.forEach(
          (name, bytes) -> {
            if (isForeign(name, bytes, written.get(name))) {
              foreign.add(name);
            }
          });
      if (!foreign.isEmpty()) {
        throw new UserError(
            "-o "
                + folder
                + ": "
                + String.join(", ", foreign)
                + (foreign.size() == 1 ? " is" : " are")
                + " there and not as an export wrote "
                + (foreign.size() == 1 ? "it" : "them")
                + "; name another folder, or replace with --force");
      }
    }
    files.forEach((name, bytes) -> written.put(name, hash(bytes)));
    StringBuilder sums = new StringBuilder();
    written.forEach((name, sum) -> sums.append(sum).append("  ").append(name).append('\n'));
    Map<String, byte[]> all = new LinkedHashMap<>();
    // First: if the renames are cut short, what is new counts as changed rather than as ours.
    all.put(WRITTEN, sums.toString().getBytes(StandardCharsets.UTF_8));
    all.putAll(files);
    AtomicFile.writeAll(folder, all);
  }

  private boolean isForeign(String name, byte[] bytes, @Nullable String sum) {
    Path file = folder.resolve(name);
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    if (!Files.isRegularFile(file)) {
      return true;
    }
    try {
      String present = hash(Files.readAllBytes(file));
      return !present.equals(sum) && !present.equals(hash(bytes));
    } catch (IOException e) {
      return true;
    }
  }

  /** The checksums of what exports have written here, by name. */
  private Map<String, String> written() {
    Map<String, String> written = new TreeMap<>();
    Path file = folder.resolve(WRITTEN);
    try {
      if (Files.isRegularFile(file)) {
        for (String line : Files.readAllLines(file)) {
          int gap = line.indexOf("  ");
          if (gap > 0 && Files.exists(folder.resolve(line.substring(gap + 2)))) {
            written.put(line.substring(gap + 2), line.substring(0, gap));
          }
        }
      }
    } catch (IOException | InvalidPathException e) {
      // Then nothing there counts as an export's.
      written.clear();
    }
    return written;
  }

  private static String hash(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
