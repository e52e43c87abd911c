package dev.warpwright.space.record;

import dev.warpwright.base.files.StagedFiles;
import dev.warpwright.base.files.UserFolders;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import org.sqlite.SQLiteJDBCLoader;
import org.sqlite.util.LibraryLoaderUtil;

/**
 * SQLite's native code. Left alone, the driver unpacks it into the folder for temporary files in
 * every process: that fails where nothing may be executed there, and a killed process leaves it
 * behind. So it is unpacked once, into our cache folder. Where that is not possible, the driver
 * does as it always does.
 */
final class SqliteLibrary {
  private static final String FOLDER = "org.sqlite.lib.path";
  private static final String NAME = "org.sqlite.lib.name";
  private static boolean done;

  private SqliteLibrary() {}

  /** Loads it, unless it is loaded or the application says itself where it is. */
  static synchronized void load() {
    if (done) {
      return;
    }
    done = true;
    Optional<Path> library =
        System.getProperty(FOLDER) == null ? unpacked() : Optional.<Path>empty();
    if (library.isEmpty()) {
      return;
    }
    // The properties are the driver's only door; they are not left to others in this process.
    String name = System.getProperty(NAME);
    Path folder = Objects.requireNonNull(library.get().getParent());
    System.setProperty(FOLDER, folder.toString());
    System.setProperty(NAME, folder.relativize(library.get()).toString());
    try {
      SQLiteJDBCLoader.initialize();
    } catch (Exception e) {
      // The connection that comes next says it.
    } finally {
      System.clearProperty(FOLDER);
      if (name == null) {
        System.clearProperty(NAME);
      } else {
        System.setProperty(NAME, name);
      }
    }
  }

  /** The library in the cache folder, whole and the driver's own. */
  private static Optional<Path> unpacked() {
    String folder = LibraryLoaderUtil.getNativeLibResourcePath();
    String name = LibraryLoaderUtil.getNativeLibName();
    Optional<Path> cache = UserFolders.system().cache();
    try (InputStream in = SQLiteJDBCLoader.class.getResourceAsStream(folder + "/" + name)) {
      if (in == null || cache.isEmpty()) {
        return Optional.empty();
      }
      byte[] content = in.readAllBytes();
      Path file =
          cache
              .get()
              .toAbsolutePath()
              .resolve("sqlite-" + SQLiteJDBCLoader.getVersion())
              .resolve(folder.replaceFirst("^/org/sqlite/native/", ""))
              .resolve(name);
      if (!Files.isRegularFile(file) || !Arrays.equals(Files.readAllBytes(file), content)) {
        Files.createDirectories(file.getParent());
        StagedFiles.write(file, out -> out.write(content));
      }
      return Optional.of(file);
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
