package dev.warpwright.base.files;

import dev.warpwright.base.UserError;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Where a user's files lie, by the XDG base directory specification. This is the one place that
 * decides: caches, databases and jobs of one user are in one home.
 *
 * @param variables of the environment
 * @param account the home folder by the system's list of users; Java says {@code ?} where the user
 *     is not in it
 */
public record UserFolders(Map<String, String> variables, String account) {
  private static final String OWN = "warpwright";

  private static final UserFolders SYSTEM =
      new UserFolders(System.getenv(), System.getProperty("user.home", ""));

  public UserFolders {
    variables = Map.copyOf(variables);
  }

  /** Of the user who runs this process. */
  public static UserFolders system() {
    return SYSTEM;
  }

  /** {@code $HOME}, else what the system knows; empty in a container whose user has none. */
  public Optional<Path> home() {
    return absolute("HOME").or(() -> path(account).filter(Path::isAbsolute));
  }

  /**
   * For what can be made again: {@code $WARPWRIGHT_CACHE}, else {@code warpwright} in {@code
   * $XDG_CACHE_HOME} or {@code ~/.cache}. It need not exist; empty where there is no home.
   */
  public Optional<Path> cache() {
    return given("WARPWRIGHT_CACHE").or(() -> base("XDG_CACHE_HOME", ".cache"));
  }

  /**
   * For what cannot be made again: {@code warpwright} in {@code $XDG_DATA_HOME} or {@code
   * ~/.local/share}.
   *
   * @throws UserError if there is no home
   */
  public Path data() {
    return base("XDG_DATA_HOME", ".local/share").orElseThrow(() -> homeless("XDG_DATA_HOME"));
  }

  /**
   * For what is of interest for a while: {@code warpwright} in {@code $XDG_STATE_HOME} or {@code
   * ~/.local/state}.
   *
   * @throws UserError if there is no home
   */
  public Path state() {
    return base("XDG_STATE_HOME", ".local/state").orElseThrow(() -> homeless("XDG_STATE_HOME"));
  }

  /**
   * The tuning database: {@code $WARPWRIGHT_DB}, else {@code tuning.db} among the data.
   *
   * @throws UserError if there is no home
   */
  public Path database() {
    return given("WARPWRIGHT_DB").orElseGet(() -> data().resolve("tuning.db"));
  }

  private static UserError homeless(String variable) {
    return new UserError("this user has no home folder; set HOME or " + variable);
  }

  private Optional<Path> base(String variable, String below) {
    return absolute(variable)
        .or(() -> home().map(home -> home.resolve(below)))
        .map(base -> base.resolve(OWN));
  }

  /** What the specification wants: other than absolute paths do not count. */
  private Optional<Path> absolute(String variable) {
    return given(variable).filter(Path::isAbsolute);
  }

  private Optional<Path> given(String variable) {
    return Optional.ofNullable(variables.get(variable))
        .filter(value -> !value.isBlank())
        .flatMap(UserFolders::path);
  }

  /** A path, or nothing if the text is none. */
  private static Optional<Path> path(String text) {
    try {
      return Optional.of(Path.of(text));
    } catch (InvalidPathException e) {
      return Optional.empty();
    }
  }
}
