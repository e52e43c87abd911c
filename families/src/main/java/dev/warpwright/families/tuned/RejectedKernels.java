package dev.warpwright.families.tuned;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warpwright.base.files.StagedFiles;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.target.host.HostEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Kernels that were chosen once and turned out to be useless, so that they are not tried again: a
 * small file for each, beside the cubin cache. Its name is a hash of the kernel's source and of
 * what found it useless, a compiler or a device with its driver; another version of either tries
 * again. These are no records of the tuning database: nothing was measured, and a user may delete
 * the folder at any time.
 *
 * <p>A file is written under another name and renamed, so a killed process leaves all of it or
 * nothing. A folder that cannot be written costs the time to find out again, nothing more.
 */
public final class RejectedKernels {
  private static final String SUFFIX = ".txt";
  private static final int MOST = 4096;
  private static final int LONGEST = 400;

  private final @Nullable Path folder;

  /**
   * Remembers in a folder.
   *
   * @param folder null to remember nothing
   */
  public RejectedKernels(@Nullable Path folder) {
    this.folder = folder;
  }

  /** The user's, {@code rejected} in {@link HostEnvironment#cacheFolder()}, if there is one. */
  public static RejectedKernels system() {
    return new RejectedKernels(
        HostEnvironment.system()
            .cacheFolder()
            .map(cache -> cache.resolve("rejected"))
            .orElse(null));
  }

  /**
   * Why a kernel was rejected; empty if it was not.
   *
   * @param by the identity of a compiler or of a device
   */
  public Optional<Outcome.Failed> find(String sourceHash, String by) {
    if (folder == null) {
      return Optional.empty();
    }
    try {
      List<String> lines = Files.readAllLines(file(folder, sourceHash, by), UTF_8);
      return Optional.of(new Outcome.Failed(FailureReason.parse(lines.get(0)), lines.get(1)));
    } catch (IOException | RuntimeException e) {
      // Not there, or not ours: then it is tried again.
      return Optional.empty();
    }
  }

  /**
   * Remembers a kernel.
   *
   * @param by the identity of a compiler or of a device
   * @param about workload and decisions, for people who look at the file
   */
  public void add(String sourceHash, String by, Outcome.Failed failure, String about) {
    if (folder == null) {
      return;
    }
    try {
      Files.createDirectories(folder);
      String text =
          String.format(
              Locale.ROOT,
              "%s%n%s%n%s%n%s%n",
              failure.reason().text(),
              line(failure.message()),
              line(about),
              line(by));
      StagedFiles.write(file(folder, sourceHash, by), out -> out.write(text.getBytes(UTF_8)));
      prune(folder);
    } catch (IOException e) {
      // It is found out again the next time.
    }
  }

  private static String line(String text) {
    String line = text.lines().findFirst().orElse("");
    return line.length() > LONGEST ? line.substring(0, LONGEST) : line;
  }

  private static Path file(Path folder, String sourceHash, String by) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] hash = digest.digest((sourceHash + "\n" + by).getBytes(UTF_8));
      return folder.resolve(HexFormat.of().formatHex(hash) + SUFFIX);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** Forgets the oldest if there are too many, and what killed processes left. */
  private static void prune(Path folder) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(folder)) {
      files = all.toList();
    }
    if (files.size() > MOST) {
      List<Path> oldest =
          files.stream()
              .sorted(Comparator.comparing(RejectedKernels::age))
              .limit(MOST / 4)
              .toList();
      for (Path file : oldest) {
        Files.deleteIfExists(file);
      }
    }
  }

  private static FileTime age(Path file) {
    try {
      return Files.getLastModifiedTime(file);
    } catch (IOException e) {
      // Another process has deleted it.
      return FileTime.fromMillis(0);
    }
  }
}
