package dev.warpwright.examples.golden;

import static org.junit.jupiter.api.Assertions.fail;

import dev.warpwright.lower.pass.PassListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.assertj.core.util.diff.DiffUtils;

/**
 * A program as it is at each step of its way, as text that is kept in a file: a change anywhere on
 * the way shows there what it does. {@code -Dgoldens.update=true} rewrites the files.
 */
public final class Goldens implements PassListener {
  private static final Path FOLDER = Path.of("src/test/resources/dev/warpwright/examples");

  private final StringBuilder all = new StringBuilder();
  private String last = "";

  /** Adds a step, unless it changed nothing. */
  @Override
  public void after(String step, Supplier<String> text) {
    String now = text.get();
    all.append("=== after ").append(step).append(" ===\n\n");
    all.append(now.equals(last) ? "nothing changed\n" : now).append('\n');
    last = now;
  }

  /** The steps so far. */
  public String text() {
    return all.toString();
  }

  /**
   * Compares with the file of this name.
   *
   * @param name a path below the goldens' folder
   */
  public static void compare(String name, String text) throws IOException {
    Path file = FOLDER.resolve(name);
    if (Boolean.getBoolean("goldens.update")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
      return;
    }
    String kept = Files.exists(file) ? Files.readString(file) : "";
    if (!kept.equals(text)) {
      List<String> before = kept.lines().toList();
      List<String> diff =
          DiffUtils.generateUnifiedDiff(
              name, "now", before, DiffUtils.diff(before, text.lines().toList()), 3);
      fail(
          name
              + " is not as it was; if that is meant, run the test with -Dgoldens.update=true:\n"
              + String.join("\n", diff.subList(0, Math.min(diff.size(), 400))));
    }
  }
}
