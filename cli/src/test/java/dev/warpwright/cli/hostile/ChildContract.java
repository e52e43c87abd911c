package dev.warpwright.cli.hostile;

import dev.warpwright.cli.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What {@link Contract} says, of a process of its own with an environment of its own. */
final class ChildContract {
  /** Ends what is set; the command follows. */
  static final String END = "--";

  /** Before where standard output goes, among what is set. */
  static final String OUTPUT = "stdout=";

  /** An output that is closed. */
  static final String CLOSED = "closed";

  /** Lines that Java itself says before we can say anything. */
  private static final List<String> OF_JAVA =
      List.of(
          "Picked up JAVA_TOOL_OPTIONS: ",
          "WARNING: Using incubator",
          "WARNING: java.io.tmpdir directory does not exist");

  private static final int LONGEST_LINE = 700;
  private static final long MOST_SECONDS = 20;
  private static final long MOST_SECONDS_BY_THE_CLOCK = 120;

  /** Java's option that interprets everything: an export took 61 s, 9 s without. */
  static final String INTERPRETED = "-Xint";

  /** How many times as long as others what is interpreted may take. */
  private static final int INTERPRETING = 10;

  private final Path folder;

  /**
   * @param folder where the input's files lie, and what the process says
   */
  ChildContract(Path folder) {
    this.folder = folder;
  }

  /** Performs a command; its result is what was wrong with it, null if nothing. */
  @Nullable String broken(List<String> args) throws IOException {
    List<String> set = args.subList(0, args.indexOf(END));
    List<String> command = args.subList(args.indexOf(END) + 1, args.size());
    Path working = Files.createDirectories(folder.resolve("cwd"));
    Path out = folder.resolve("stdout.txt");
    Path err = folder.resolve("stderr.txt");
    String output = out.toString();
    List<String> line = new ArrayList<>();
    for (String variable : set) {
      if (variable.startsWith(OUTPUT)) {
        output = variable.substring(OUTPUT.length());
      }
    }
    if (output.equals(CLOSED)) {
      line.addAll(List.of("/bin/sh", "-c", "exec \"$@\" >&-", "sh"));
    }
    line.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName()));
    line.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(line).directory(working.toFile());
    builder.redirectError(err.toFile());
    builder.redirectOutput(Path.of(output.equals(CLOSED) ? out.toString() : output).toFile());
    for (String variable : set) {
      int at = variable.indexOf('=');
      if (!variable.startsWith(OUTPUT)) {
        builder.environment().put(variable.substring(0, at), variable.substring(at + 1));
      }
    }
    boolean interpreted = set.stream().anyMatch(variable -> variable.endsWith(INTERPRETED));
    int code = end(builder.start(), interpreted ? INTERPRETING : 1);
    String said = Files.readString(err);
    List<String> lines =
        said.lines().filter(l -> OF_JAVA.stream().noneMatch(l::startsWith)).toList();
    if (code == Integer.MIN_VALUE) {
      return "hangs: " + said;
    }
    if (code < 0 || code > 3) {
      return "exit code " + code + ": " + said;
    }
    if (said.contains("bug in warpwright") || said.contains("\tat ")) {
      return "bug: " + said;
    }
    if (lines.stream().anyMatch(l -> !l.startsWith("warpwright: ") || l.length() > LONGEST_LINE)) {
      return "a line that is none of ours or too long: " + said;
    }
    boolean refused = code >= 2;
    if (refused && lines.isEmpty()) {
      return "nothing said, exit code " + code;
    }
    boolean taken = output.equals(out.toString());
    if (!taken && !refused) {
      return "nobody got its output, but it says that all is well";
    }
    if (taken && refused && Files.size(out) > 0) {
      return "refused, but says on standard output: " + Files.readString(out);
    }
    try (Stream<Path> left = Files.list(working)) {
      List<Path> files = left.filter(file -> !wanted(file, set)).toList();
      return files.isEmpty() ? null : "files that nobody wanted: " + files + ", exit code " + code;
    }
  }

  /** Whether a variable names this file in the working folder. */
  private static boolean wanted(Path file, List<String> set) {
    return set.stream().anyMatch(variable -> variable.endsWith("=" + file.getFileName()));
  }

  private static int end(Process process, int times) {
    try {
      long start = System.nanoTime();
      while (!process.waitFor(100, TimeUnit.MILLISECONDS)) {
        long worked = process.info().totalCpuDuration().orElse(Duration.ZERO).toSeconds();
        long seconds = (System.nanoTime() - start) / 1_000_000_000;
        if (worked > MOST_SECONDS * times || seconds > MOST_SECONDS_BY_THE_CLOCK * times) {
          process.destroyForcibly().waitFor();
          return Integer.MIN_VALUE;
        }
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
