package dev.warpwright.target.host;

import dev.warpwright.base.files.UserFolders;
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

  /** The user's folders by these variables. */
  private UserFolders folders() {
    return new UserFolders(variables, System.getProperty("user.home", ""));
  }

  /** The user's home folder; empty if there is none. */
  Optional<Path> home() {
    return folders().home();
  }

  /** Warpwright's cache folder, {@link UserFolders#cache}; empty if there is no home for it. */
  public Optional<Path> cacheFolder() {
    return folders().cache();
  }
}
