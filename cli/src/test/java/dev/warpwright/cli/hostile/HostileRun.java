package dev.warpwright.cli.hostile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Performs hostile inputs of one kind, one after the other, from a seed on. What breaks the
 * contract is kept in a folder of findings, with its arguments; {@code bench/hostile.sh} starts it.
 */
public final class HostileRun {
  private static final int FOUND = 1;
  private static final int HANGS = 5;

  /** Seconds from which on an input is named, though it is allowed. */
  private static final int SLOW = 8;

  private HostileRun() {}

  /**
   * Performs inputs until their number or the time is reached.
   *
   * @param args kind, first seed, number of inputs, seconds, folder of findings
   */
  public static void main(String[] args) throws IOException {
    HostileKind kind = HostileKind.valueOf(args[0].toUpperCase(Locale.ROOT));
    long first = Long.parseLong(args[1]);
    long count = Long.parseLong(args[2]);
    long end = System.nanoTime() + 1_000_000_000L * Long.parseLong(args[3]);
    Path findings = Path.of(args[4]);
    long found = 0;
    long seed = first;
    for (; seed < first + count && System.nanoTime() < end; seed++) {
      Path folder = Files.createTempDirectory("hostile");
      long start = System.nanoTime();
      String wrong = once(kind, seed, folder, findings);
      long seconds = (System.nanoTime() - start) / 1_000_000_000;
      if (seconds >= SLOW) {
        System.out.println(args[0] + "-" + seed + " took " + seconds + " s: " + told);
      }
      found += wrong == null ? 0 : 1;
      delete(folder);
    }
    System.out.println(
        args[0] + ": " + (seed - first) + " inputs, " + found + " findings, next " + seed);
    System.exit(found > 0 ? FOUND : 0);
  }

  private static String told = "";

  private static @Nullable String once(HostileKind kind, long seed, Path folder, Path findings)
      throws IOException {
    List<String> line = kind.hostile.prepare(new Random(mixed(seed)), folder);
    told = String.join(" ", line);
    told = told.length() > 200 ? told.substring(0, 200) : told;
    Path name = Path.of(kind.name().toLowerCase(Locale.ROOT) + "-" + seed);
    Contract contract = new Contract(folder, Path.of("").toAbsolutePath());
    try {
      String wrong = kind.hostile.broken(contract, line, folder);
      if (wrong != null) {
        keep(findings.resolve(name), folder, line, wrong);
      }
      return wrong;
    } catch (Contract.Hanging e) {
      keep(findings.resolve(name), folder, line, String.valueOf(e.getMessage()));
      System.out.println(name + " hangs; next " + (seed + 1));
      System.out.flush();
      Runtime.getRuntime().halt(HANGS);
      throw e;
    }
  }

  private static void keep(Path to, Path from, List<String> args, String wrong) throws IOException {
    String head = wrong.length() > 300 ? wrong.substring(0, 300) : wrong;
    System.out.println(to.getFileName() + ": " + head);
    Files.createDirectories(to);
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path copy = to.resolve(from.relativize(file).toString());
        Files.createDirectories(copy.getParent());
        Files.copy(file, copy, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
      }
    }
    // The folder may be another one when the arguments are given again.
    List<String> relative = args.stream().map(a -> a.replace(from.toString(), "FOLDER")).toList();
    Files.writeString(to.resolve("arguments.txt"), String.join("\n", relative));
    Files.writeString(to.resolve("wrong.txt"), wrong);
  }

  /** Of seeds that follow each other, Random would make inputs that begin alike. */
  static long mixed(long seed) {
    return seed * 0x9E3779B97F4A7C15L;
  }

  /** Deletes what is in a folder. */
  static void empty(Path folder) throws IOException {
    delete(folder);
    Files.createDirectories(folder);
  }

  static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
