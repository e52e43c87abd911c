package dev.warpwright.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Where the models of the repository are, whichever folder the tests are started in. */
public final class Repository {
  private Repository() {}

  /** The folder of a model. */
  public static Path model(String name) {
    return models().resolve(name);
  }

  /** The folders of all models, sorted. */
  public static List<Path> allModels() {
    try (Stream<Path> folders = Files.list(models())) {
      return folders.filter(Files::isDirectory).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path models() {
    Path folder = Path.of("").toAbsolutePath();
    while (folder != null && !Files.isDirectory(folder.resolve("models"))) {
      folder = folder.getParent();
    }
    if (folder == null) {
      throw new IllegalStateException("no folder 'models' above the working directory");
    }
    return folder.resolve("models");
  }
}
