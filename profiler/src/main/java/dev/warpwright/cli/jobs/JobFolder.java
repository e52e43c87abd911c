package dev.warpwright.cli.jobs;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.families.tuned.TuningLocation;
import dev.warpwright.measure.OwnJava;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The jobs of a user, in a folder of the state folder. */
public final class JobFolder {
  /** The system property that tells a job where its folder is. */
  public static final String FOLDER = "warpwright.job";

  private static final String MAIN = "dev.warpwright.cli.Main";

  private final Path folder;
  private final String main;

  /**
   * The jobs in a folder.
   *
   * @param main the class that a job is
   */
  JobFolder(Path folder, String main) {
    this.folder = folder;
    this.main = main;
  }

  /** The user's. */
  public static JobFolder ofUser() {
    return new JobFolder(TuningLocation.stateFolder().resolve("jobs"), MAIN);
  }

  /**
   * Starts a command that goes on when the terminal is closed.
   *
   * @param arguments of the command, the program's name not among them
   */
  public Job start(List<String> arguments) {
    Path own = newFolder();
    List<String> command = new ArrayList<>();
    // A session of its own where the system has the command for it; hangups are ignored anyway.
    if (onPath("setsid")) {
      command.add("setsid");
    }
    command.addAll(List.of("/bin/sh", "-c", "trap '' HUP; exec \"$0\" \"$@\""));
    command.addAll(
        OwnJava.command(
            List.of("-D" + FOLDER + "=" + own),
            System.getProperty("java.class.path"),
            main,
            arguments));
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectInput(Path.of("/dev/null").toFile())
              .redirectOutput(own.resolve(Job.RESULT).toFile())
              .redirectError(own.resolve(Job.LOG).toFile())
              .start();
      Job job =
          new Job(
              own,
              Long.parseLong(own.getFileName().toString()),
              process.pid(),
              process.info().startInstant().orElse(null),
              arguments,
              Instant.now());
      job.describe();
      return job;
    } catch (IOException e) {
      throw new DeviceError("a job cannot be started: " + e.getMessage(), e);
    }
  }

  private static boolean onPath(String program) {
    String path = System.getenv("PATH");
    return path != null
        && Stream.of(path.split(":"))
            .filter(part -> !part.isEmpty())
            .anyMatch(part -> Files.isExecutable(Path.of(part, program)));
  }

  private Path newFolder() {
    try {
      Files.createDirectories(folder);
      long next = all().stream().mapToLong(Job::id).max().orElse(0) + 1;
      while (true) {
        try {
          return Files.createDirectory(folder.resolve(Long.toString(next)));
        } catch (FileAlreadyExistsException e) {
          // Another process was faster.
          next++;
        }
      }
    } catch (IOException e) {
      throw new UserError("cannot write to " + folder + ": " + e.getMessage());
    }
  }

  /** All jobs, oldest first. */
  public List<Job> all() {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> folders = Files.list(folder)) {
      return folders
          .flatMap(own -> Job.read(own).stream())
          .sorted(Comparator.comparingLong(Job::id))
          .toList();
    } catch (IOException e) {
      throw new UserError("cannot read " + folder + ": " + e.getMessage());
    }
  }

  /**
   * The job of a number.
   *
   * @throws UserError if there is none
   */
  Job find(long id) {
    Optional<Job> job = Job.read(folder.resolve(Long.toString(id)));
    return job.orElseThrow(
        () -> new UserError("there is no job " + id + "; 'warpwright jobs' lists them"));
  }

  /** To be called when the program ends: tells the result, if the program is a job. */
  public static void ended(int code) {
    String own = System.getProperty(FOLDER);
    if (own != null) {
      Job.writeExitCode(Path.of(own), code);
    }
  }

  /** What this program is called in lists, if it is a job. */
  static Optional<String> own() {
    return Optional.ofNullable(System.getProperty(FOLDER))
        .map(own -> "job " + Path.of(own).getFileName());
  }

  /** To be called when the program begins, or ends, to wait for its turn. */
  static void queued(boolean waits) {
    String own = System.getProperty(FOLDER);
    if (own != null) {
      Job.markQueued(Path.of(own), waits);
    }
  }
}
