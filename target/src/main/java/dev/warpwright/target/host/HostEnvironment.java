package dev.warpwright.target.host;

import java.io.File;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The environment variables and the root folder that searches look at; tests make their own.
 *
 * @param variables environment variables by name
 * @param root the file system's root, {@code /} outside tests: every absolute place is looked up
 *     below it
 */
public record HostEnvironment(Map<String, String> variables, Path root) {
  private static final HostEnvironment SYSTEM =
      new HostEnvironment(System.getenv(), Path.of(File.separator));

  public HostEnvironment {
    variables = Map.copyOf(variables);
  }

  /** This process's environment. */
  public static HostEnvironment system() {
    return SYSTEM;
  }

  /** A variable's value; empty also if it is set to nothing. */
  public Optional<String> variable(String name) {
    return Optional.ofNullable(variables.get(name)).filter(value -> !value.isBlank());
  }

  /** The folders that a variable such as {@code PATH} lists; what is no path is left out. */
  public List<Path> folders(String name) {
    List<Path> folders = new ArrayList<>();
    for (String part : variable(name).orElse("").split(File.pathSeparator)) {
      if (!part.isBlank()) {
        path(part).ifPresent(folders::add);
      }
    }
    return folders;
  }

  /** A path, or nothing if the text is none. */
  static Optional<Path> path(String text) {
    try {
      return Optional.of(Path.of(text));
    } catch (InvalidPathException e) {
      return Optional.empty();
    }
  }

  /** {@code folder}, given without a leading slash, below the root. */
  Path below(String folder) {
    return root.resolve(folder);
  }

  /** The user's home folder. */
  Path home() {
    return variable("HOME")
        .flatMap(HostEnvironment::path)
        .orElseGet(() -> Path.of(System.getProperty("user.home", ".")));
  }

  /**
   * Warpwright's cache folder: {@code $WARPWRIGHT_CACHE}, else {@code $XDG_CACHE_HOME/warpwright},
   * else {@code ~/.cache/warpwright}. It need not exist.
   */
  public Path cacheFolder() {
    return variable("WARPWRIGHT_CACHE")
        .flatMap(HostEnvironment::path)
        .or(
            () ->
                variable("XDG_CACHE_HOME")
                    .flatMap(HostEnvironment::path)
                    .map(folder -> folder.resolve("warpwright")))
        .orElseGet(() -> home().resolve(".cache").resolve("warpwright"));
  }
}
