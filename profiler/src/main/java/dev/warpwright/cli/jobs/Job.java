package dev.warpwright.cli.jobs;

import dev.warpwright.base.UserError;
import dev.warpwright.base.files.StagedFiles;
import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonFields;
import dev.warpwright.base.json.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A command that runs, or ran, in the background. Its folder holds {@code job.json} (what was
 * started), {@code log} (what it says), {@code result} (what it prints), {@code queued} while it
 * waits for its device and, at the end, {@code exit} (its exit code).
 *
 * @param id its number, which names the folder
 * @param pid of its process
 * @param processStart when the system says that the process began, so that another process with the
 *     same number is not taken for it
 * @param command what was asked for, without {@code warpwright}
 * @param startedAt when
 */
public record Job(
    Path folder,
    long id,
    long pid,
    @Nullable Instant processStart,
    List<String> command,
    Instant startedAt) {
  static final String LOG = "log";
  static final String RESULT = "result";
  private static final String DESCRIPTION = "job.json";
  private static final String INCUBATING = "WARNING: Using incubator modules: [^\n]*\n";
  private static final String EXIT = "exit";
  private static final String CANCELLED = "cancelled";
  private static final String QUEUED = "queued";

  public Job {
    command = List.copyOf(command);
  }

  /** What became of it. */
  public enum State {
    /** It waits until another command no longer measures on its device. */
    QUEUED,
    RUNNING,
    DONE,
    FAILED,
    CANCELLED,
    /** It ended without an exit code: killed, or the machine was restarted. */
    DIED;

    /** Whether it has not ended. */
    boolean isUnderWay() {
      return this == QUEUED || this == RUNNING;
    }
  }

  /** Writes the description. */
  void describe() {
    Json json =
        Json.object()
            .with("id", id)
            .with("pid", pid)
            .with("processStart", processStart == null ? null : processStart.toString())
            .with("command", Json.array(command, Json::of))
            .with("startedAt", startedAt.toString());
    write(DESCRIPTION, json.write());
  }

  /** Reads one; empty if the folder holds none. */
  static Optional<Job> read(Path folder) {
    try {
      Path file = folder.resolve(DESCRIPTION);
      JsonFields fields =
          JsonFields.of(file.toString(), JsonParser.parse(file.toString(), Files.readString(file)));
      List<String> command =
          fields.list("command").stream()
              .map(word -> word instanceof Json.Text(String text) ? text : "?")
              .toList();
      return Optional.of(
          new Job(
              folder,
              Long.parseLong(folder.getFileName().toString()),
              fields.integer("pid"),
              fields.has("processStart") ? Instant.parse(fields.text("processStart")) : null,
              command,
              Instant.parse(fields.text("startedAt"))));
    } catch (IOException | RuntimeException e) {
      // A folder that is being made, or that is not ours.
      return Optional.empty();
    }
  }

  /** Its process, if it runs. */
  Optional<ProcessHandle> process() {
    return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).filter(this::isThis);
  }

  /**
   * Whether a process of the job's number is the job, not one that was given the number since: it
   * began when the job did or, where one of the times is not known, it was told the job's folder.
   */
  private boolean isThis(ProcessHandle handle) {
    Optional<Instant> began = handle.info().startInstant();
    if (processStart != null && began.isPresent()) {
      return began.get().equals(processStart);
    }
    String told = "-D" + JobFolder.FOLDER + "=" + folder;
    return arguments(handle).contains(told);
  }

  /**
   * What a process was started with. Java knows no more than a page of it, which a class path
   * fills.
   */
  private static List<String> arguments(ProcessHandle handle) {
    try {
      Path all = Path.of("/proc", Long.toString(handle.pid()), "cmdline");
      return List.of(new String(Files.readAllBytes(all), StandardCharsets.UTF_8).split("\0"));
    } catch (IOException e) {
      return List.of(handle.info().arguments().orElse(new String[0]));
    }
  }

  /** What became of it. */
  public State state() {
    // Asked first: a job that ends in between has its exit code by then.
    boolean runs = process().isPresent();
    Optional<Integer> code = exitCode();
    if (code.isPresent()) {
      return code.get() == 0 ? State.DONE : wasCancelled() ? State.CANCELLED : State.FAILED;
    }
    if (runs) {
      return Files.exists(folder.resolve(QUEUED)) ? State.QUEUED : State.RUNNING;
    }
    return wasCancelled() ? State.CANCELLED : State.DIED;
  }

  private boolean wasCancelled() {
    return Files.exists(folder.resolve(CANCELLED));
  }

  void markCancelled() {
    write(CANCELLED, "");
  }

  /** Its exit code, once it has ended. */
  Optional<Integer> exitCode() {
    try {
      return Optional.of(Integer.parseInt(Files.readString(folder.resolve(EXIT)).strip()));
    } catch (IOException | NumberFormatException e) {
      return Optional.empty();
    }
  }

  /** To be called by the job itself when it ends. */
  static void writeExitCode(Path folder, int code) {
    try {
      byte[] text = Integer.toString(code).getBytes(StandardCharsets.UTF_8);
      StagedFiles.write(folder.resolve(EXIT), out -> out.write(text));
    } catch (IOException e) {
      // Its folder was removed: nobody asks any more.
    }
  }

  /** To be called by the job itself when it begins, or ends, to wait for its turn. */
  static void markQueued(Path folder, boolean waits) {
    try {
      if (waits) {
        Files.writeString(folder.resolve(QUEUED), "");
      } else {
        Files.deleteIfExists(folder.resolve(QUEUED));
      }
    } catch (IOException e) {
      // It is only not told.
    }
  }

  private void write(String name, String text) {
    try {
      byte[] line = (text + "\n").getBytes(StandardCharsets.UTF_8);
      StagedFiles.write(folder.resolve(name), out -> out.write(line));
    } catch (IOException e) {
      throw new UserError("cannot write to " + folder + ": " + e.getMessage());
    }
  }

  /** The last line of its log; empty if it has said nothing yet. */
  String lastLine() {
    List<String> lines = text(LOG).lines().filter(line -> !line.isBlank()).toList();
    return lines.isEmpty() ? "" : lines.getLast();
  }

  /** A file of the folder, without what Java itself says; empty if it is not there. */
  String text(String name) {
    try {
      return Files.readString(folder.resolve(name)).replaceFirst(INCUBATING, "");
    } catch (IOException e) {
      return "";
    }
  }
}
