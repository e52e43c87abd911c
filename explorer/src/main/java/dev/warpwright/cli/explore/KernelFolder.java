package dev.warpwright.cli.explore;

import dev.warpwright.base.UserError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The kernels in text of a folder; nothing outside of it can be named. */
record KernelFolder(Path folder) {
  private static final String ENDING = ".kernel";

  /** Names of the files, without their ending, sorted; none if there is no such folder. */
  List<String> names() {
    List<String> names = new ArrayList<>();
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + ENDING)) {
        for (Path file : files) {
          String name = file.getFileName().toString();
          names.add(name.substring(0, name.length() - ENDING.length()));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    names.sort(null);
    return names;
  }

  /**
   * The file of a name.
   *
   * @throws UserError if it is not one of {@link #names}
   */
  Path file(String name) {
    if (!names().contains(name)) {
      throw new UserError("there is no such kernel");
    }
    return folder.resolve(name + ENDING);
  }

  /** The text of a name's file. */
  String text(String name) {
    try {
      return Files.readString(file(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
