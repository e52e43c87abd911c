package dev.warpwright.cli.hostile;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.output.LiveProgress;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What every command line keeps to, whatever it is given: an exit code of the contract, of an error
 * one line of a few hundred characters and nothing on standard output, no trace, no file but what
 * was asked for, and an end within seconds.
 *
 * <p>Lines of progress are told apart by who prints them: {@link LiveProgress}. A command hangs
 * when it works for 20 s without a sign. What tells how far it is, does not: {@code explain} lets
 * CUDA's compiler make a dozen kernels, one line each, and ends at Ctrl-C.
 */
final class Contract {
  private static final int LONGEST_LINE = 700;
  private static final int MOST_LINES = 60;
  private static final String PREFIX = "warpwright: ";
  private static final long MOST_SECONDS = 20;

  /** On a busy machine the clock runs on while the process does not. */
  private static final long MOST_SECONDS_BY_THE_CLOCK = 90;

  private final Path folder;
  private final Path working;

  /**
   * @param folder where the input's files lie
   * @param working the process's working folder, in which nothing may appear
   */
  Contract(Path folder, Path working) {
    this.folder = folder;
    this.working = working;
  }

  /** A command that has not ended. */
  static final class Hanging extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Hanging(String trace) {
      super(trace);
    }
  }

  /**
   * What a command did.
   *
   * @param broken what was wrong with it, null if nothing
   */
  record Outcome(int code, String out, String err, @Nullable String broken) {}

  /**
   * Performs a command; its result is what was wrong with it, null if nothing.
   *
   * @throws Hanging if it does not end; its thread goes on
   */
  @Nullable String broken(List<String> args) {
    return outcome(args).broken();
  }

  /**
   * Performs a command.
   *
   * @throws Hanging if it does not end; its thread goes on
   */
  Outcome outcome(List<String> args) {
    Set<String> before = files();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Spoken err = new Spoken();
    int[] code = {Integer.MIN_VALUE};
    Throwable[] thrown = {null};
    Thread thread =
        new Thread(
            () -> {
              try {
                code[0] =
                    Main.execute(
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        err,
                        args.toArray(String[]::new));
              } catch (Throwable e) {
                thrown[0] = e;
              }
            });
    thread.setDaemon(true);
    await(thread, err);
    String broken =
        thrown[0] != null ? "thrown: " + thrown[0] : broken(args, code[0], out, err, before);
    return new Outcome(code[0], out.toString(StandardCharsets.UTF_8), err.text(), broken);
  }

  private @Nullable String broken(
      List<String> args, int code, ByteArrayOutputStream out, Spoken err, Set<String> before) {
    String said = err.text();
    if (code < 0 || code > 3) {
      return "exit code " + code + ": " + said;
    }
    if (said.contains("bug in warpwright") || said.contains("\tat ")) {
      return "bug: " + said;
    }
    List<String> lines = said.lines().toList();
    boolean refused = code >= 2;
    if (refused && lines.isEmpty()) {
      return "nothing said, exit code " + code;
    }
    if (lines.stream().anyMatch(l -> !l.startsWith(PREFIX) || l.length() > LONGEST_LINE)) {
      return "a line that is none of ours or too long: " + said;
    }
    // A refusal is one line, the last.
    if (err.others() != (refused ? 1 : 0) || refused && err.endsWithProgress()) {
      return err.others() + " lines beside those of progress, exit code " + code + ": " + said;
    }
    if (lines.size() > MOST_LINES) {
      return "too many lines: " + said;
    }
    if (refused && out.size() > 0) {
      return "refused, but says on standard output: " + out.toString(StandardCharsets.UTF_8);
    }
    Set<String> after = files();
    after.removeAll(before);
    after.removeIf(file -> wanted(file, args, refused));
    return after.isEmpty() ? null : "files that nobody wanted: " + after + ", exit code " + code;
  }

  /** Whether a file is a database, or of what an accepted command was to write. */
  private boolean wanted(String file, List<String> args, boolean refused) {
    if (file.startsWith(folder.resolve("t.db").toString())) {
      return true;
    }
    return !refused
        && Stream.of("out", "out.jsonl", "o.svg", "o.csv")
            .map(name -> folder.resolve(name).toString())
            .anyMatch(
                name ->
                    (file.equals(name) || file.startsWith(name + "/"))
                        && args.stream().anyMatch(arg -> arg.endsWith(name)));
  }

  private static void await(Thread thread, Spoken err) {
    long cpu = cpuNanos();
    long start = System.nanoTime();
    int told = 0;
    thread.start();
    try {
      while (thread.isAlive()) {
        thread.join(200);
        if (err.progress() != told) {
          told = err.progress();
          cpu = cpuNanos();
          start = System.nanoTime();
        }
        long seconds = (System.nanoTime() - start) / 1_000_000_000;
        long worked = (cpuNanos() - cpu) / 1_000_000_000;
        if (thread.isAlive()
            && (seconds > MOST_SECONDS_BY_THE_CLOCK
                || seconds > MOST_SECONDS && worked > MOST_SECONDS)) {
          throw new Hanging("more than " + MOST_SECONDS + " s: " + where());
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static long cpuNanos() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
  }

  /** What our threads are about. */
  private static String where() {
    StringBuilder text = new StringBuilder();
    Thread.getAllStackTraces()
        .forEach(
            (thread, frames) -> {
              List<String> ours = new ArrayList<>();
              for (StackTraceElement frame : frames) {
                if (frame.getClassName().startsWith("dev.warpwright.") && ours.size() < 25) {
                  ours.add(frame.toString());
                }
              }
              if (!ours.isEmpty() && thread != Thread.currentThread()) {
                text.append("\n  ").append(String.join("\n  ", ours)).append('\n');
              }
            });
    return text.toString();
  }

  private Set<String> files() {
    Set<String> files = new TreeSet<>();
    try (Stream<Path> inFolder = Files.walk(folder);
        Stream<Path> around = Files.list(working)) {
      inFolder.forEach(file -> files.add(file.toString()));
      around.forEach(file -> files.add(file.toString()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files;
  }
}
