package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.measure.data.TextFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A file of tasks: {@code gemm MNK=4096 dtype=bf16} on each line, {@code #} before remarks. */
public final class TaskFile {
  private TaskFile() {}

  /**
   * A task.
   *
   * @param where file and line, for messages
   */
  public record Task(String where, String what, List<String> arguments) {}

  /**
   * Reads a file.
   *
   * @throws UserError if it is no text or holds no task
   */
  public static List<Task> read(Path file) {
    List<String> lines = TextFile.lines(file);
    List<Task> tasks = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).replaceAll("#.*", "").strip();
      if (line.indexOf('\0') >= 0) {
        throw new UserError(file + ", line " + (i + 1) + ": is no text");
      }
      if (!line.isEmpty()) {
        List<String> words = List.of(line.split("\\s+"));
        tasks.add(
            new Task(file + ", line " + (i + 1), words.getFirst(), words.subList(1, words.size())));
      }
    }
    if (tasks.isEmpty()) {
      throw new UserError(file + ": no task; write lines like 'gemm MNK=4096 dtype=bf16'");
    }
    return tasks;
  }

  /** The tasks of a file, or the one of the command line. */
  static List<Task> tasks(@Nullable Path file, String what, List<String> arguments) {
    if (file == null) {
      if (what.isEmpty()) {
        throw new UserError("nothing to do; write 'gemm MNK=4096', or give --file");
      }
      return List.of(new Task("", what, arguments));
    }
    if (!what.isEmpty()) {
      throw new UserError("either a task or --file " + file + ", not both");
    }
    return read(file);
  }

  /** Tells in which line of the file a mistake is. */
  public static UserError located(Task task, UserError e) {
    return task.where().isEmpty() ? e : new UserError(task.where() + ": " + e.getMessage());
  }
}
