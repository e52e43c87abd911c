package dev.warpwright.cuda.compile;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warpwright.base.files.StagedFiles;
import dev.warpwright.target.host.HostEnvironment;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Cubins on disk, addressed by all that decides them.
 *
 * <p>Any number of processes may use one folder. An entry is written under another name and
 * renamed, so a reader sees all of it or nothing; it carries a checksum, and one that does not
 * match is deleted and counts as missing. When the folder outgrows its bound, the entries that were
 * not used for longest go. A folder that cannot be read or written costs one line of warning and
 * the time to compile, nothing more.
 */
public final class CubinCache {
  /** Goes up whenever an entry's content or its meaning changes. */
  private static final int GENERATION = 1;

  private static final byte[] MAGIC = "WWCUBIN1".getBytes(UTF_8);
  private static final int CHECKSUM_BYTES = 32;
  private static final int HEADER_BYTES = MAGIC.length + CHECKSUM_BYTES + 2 * Integer.BYTES;
  private static final String SUFFIX = ".cubin";
  private static final String DRAFT_SUFFIX = ".tmp";
  private static final long DEFAULT_BOUND = 512L << 20;
  private static final long ABANDONED_SECONDS = 3600;

  private final @Nullable Path folder;
  private final long bound;
  private final Consumer<String> warn;
  private final AtomicBoolean warned = new AtomicBoolean();

  /** An estimate, for other processes write too; negative until the folder was listed. */
  private final AtomicLong bytes = new AtomicLong(-1);

  private final AtomicLong puts = new AtomicLong();

  /**
   * @param folder where entries live; made when the first is written. Null to keep none
   * @param bound bytes that the entries may take together
   * @param warn told once, in one line, if the folder cannot be used
   */
  public CubinCache(@Nullable Path folder, long bound, Consumer<String> warn) {
    if (bound <= 0) {
      throw new IllegalArgumentException("cache bound is " + bound + " bytes, must be positive");
    }
    this.folder = folder;
    this.bound = bound;
    this.warn = warn;
  }

  /**
   * The user's cache, {@code cubin} in {@link HostEnvironment#cacheFolder()}, 512 MB at most; none
   * for a user without a home.
   */
  public static CubinCache system() {
    return new CubinCache(
        HostEnvironment.system().cacheFolder().map(all -> all.resolve("cubin")).orElse(null),
        DEFAULT_BOUND,
        line -> System.err.println("warpwright: " + line));
  }

  /** The address of what a compiler of this identity makes of a request. */
  public static String key(CompileRequest request, String compilerIdentity) {
    MessageDigest digest = sha256();
    add(digest, "generation " + GENERATION);
    add(digest, compilerIdentity);
    add(digest, request.arch());
    request.options().forEach(option -> add(digest, option));
    add(digest, request.source());
    return HexFormat.of().formatHex(digest.digest());
  }

  /** The entry of this key, if there is a sound one. */
  public Optional<Cubin> get(String key) {
    if (folder == null) {
      return Optional.empty();
    }
    Path file = file(folder, key);
    byte[] entry;
    try {
      BasicFileAttributes is = Files.readAttributes(file, BasicFileAttributes.class);
      // A named pipe would be waited for; the next put replaces it.
      if (!is.isRegularFile() || is.size() > bound) {
        return Optional.empty();
      }
      entry = Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      complain(e);
      return Optional.empty();
    }
    Optional<Cubin> cubin = decode(entry);
    if (cubin.isPresent()) {
      touch(file);
    } else {
      delete(file);
    }
    return cubin;
  }

  /** Keeps an entry; fails silently but for the one warning. */
  public void put(String key, Cubin cubin) {
    byte[] entry = encode(cubin);
    if (folder == null || entry.length > bound) {
      return;
    }
    try {
      Files.createDirectories(folder);
      StagedFiles.write(file(folder, key), out -> out.write(entry));
      keepWithinBound(folder, entry.length);
    } catch (IOException e) {
      complain(e);
    }
  }

  private record Entry(Path file, long bytes, Instant used) {}

  private void keepWithinBound(Path folder, long added) {
    boolean unknown = bytes.get() < 0;
    // Other processes' entries are seen when this one lists the folder: at first, when full, and
    // now and then.
    if (unknown || bytes.addAndGet(added) > bound || puts.incrementAndGet() % 64 == 0) {
      prune(folder);
    }
  }

  private synchronized void prune(Path folder) {
    List<Entry> entries = entries(folder);
    long total = entries.stream().mapToLong(Entry::bytes).sum();
    if (total > bound) {
      entries.sort(
          (a, b) ->
              a.used().equals(b.used())
                  ? a.file().compareTo(b.file())
                  : a.used().compareTo(b.used()));
      // A little below the bound, so that the next entry does not list the folder again.
      long goal = bound - bound / 10;
      for (Entry entry : entries) {
        if (total <= goal) {
          break;
        }
        delete(entry.file());
        total -= entry.bytes();
      }
    }
    bytes.set(total);
  }

  /** All entries; drafts that a killed process left behind are deleted on the way. */
  private static List<Entry> entries(Path folder) {
    List<Entry> entries = new ArrayList<>();
    Instant abandoned = Instant.now().minusSeconds(ABANDONED_SECONDS);
    try (var files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        try {
          String name = file.getFileName().toString();
          Instant used = Files.getLastModifiedTime(file).toInstant();
          if (name.endsWith(SUFFIX)) {
            entries.add(new Entry(file, Files.size(file), used));
          } else if (name.endsWith(DRAFT_SUFFIX) && used.isBefore(abandoned)) {
            delete(file);
          }
        } catch (NoSuchFileException e) {
          // Another process pruned it.
        }
      }
    } catch (IOException | java.nio.file.DirectoryIteratorException e) {
      // What could be listed is enough for an estimate.
    }
    return entries;
  }

  private static Path file(Path folder, String key) {
    return folder.resolve(key + SUFFIX);
  }

  private static byte[] encode(Cubin cubin) {
    byte[] code = cubin.bytes();
    byte[] log = cubin.log().getBytes(UTF_8);
    ByteBuffer entry = ByteBuffer.allocate(HEADER_BYTES + code.length + log.length);
    entry.put(MAGIC).position(MAGIC.length + CHECKSUM_BYTES);
    entry.putInt(code.length).putInt(log.length).put(code).put(log);
    entry.put(MAGIC.length, checksum(entry.array()));
    return entry.array();
  }

  private static Optional<Cubin> decode(byte[] bytes) {
    ByteBuffer entry = ByteBuffer.wrap(bytes);
    if (bytes.length < HEADER_BYTES
        || !entry.slice(0, MAGIC.length).equals(ByteBuffer.wrap(MAGIC))) {
      return Optional.empty();
    }
    ByteBuffer expected = entry.slice(MAGIC.length, CHECKSUM_BYTES);
    if (!expected.equals(ByteBuffer.wrap(checksum(bytes)))) {
      return Optional.empty();
    }
    entry.position(MAGIC.length + CHECKSUM_BYTES);
    byte[] code = new byte[entry.getInt()];
    byte[] log = new byte[entry.getInt()];
    entry.get(code).get(log);
    return Optional.of(new Cubin(code, new String(log, UTF_8)));
  }

  private static byte[] checksum(byte[] entry) {
    MessageDigest digest = sha256();
    int start = MAGIC.length + CHECKSUM_BYTES;
    digest.update(entry, start, entry.length - start);
    return digest.digest();
  }

  /** With its length, so that no two lists of texts give the same bytes. */
  private static void add(MessageDigest digest, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).flip());
    digest.update(bytes);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** Marks an entry as used now. A folder that is read-only still serves. */
  private static void touch(Path file) {
    try {
      Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
    } catch (IOException e) {
      // It then counts as used when it was written.
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      // Another process may have deleted it, or the folder is read-only; a later put reports that.
    }
  }

  private void complain(IOException e) {
    if (warned.compareAndSet(false, true)) {
      warn.accept(
          "the cubin cache " + folder + " cannot be used, kernels are compiled every time: " + e);
    }
  }
}
