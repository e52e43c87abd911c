package dev.warpwright.cuda.compile;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class CubinCacheTest {
  private static final long LARGE = 1L << 30;

  @TempDir Path folder;
  private final List<String> warnings = new ArrayList<>();

  @Test
  void whatWasPutIsFoundAlsoByAnotherInstance() {
    cache(LARGE).put("a", cubin("a", 1000));
    Cubin found = cache(LARGE).get("a").orElseThrow();
    assertThat(found.bytes()).isEqualTo(cubin("a", 1000).bytes());
    assertThat(found.log()).isEqualTo("log of a");
    assertThat(cache(LARGE).get("b")).isEmpty();
    assertThat(warnings).isEmpty();
    assertThat(names()).containsExactly("a.cubin");
  }

  @Test
  void everyPartOfARequestDecidesTheKey() {
    CompileRequest request = new CompileRequest("source", "sm_80", List.of("-a", "-b"));
    List<String> keys =
        List.of(
            CubinCache.key(request, "x"),
            CubinCache.key(request, "y"),
            CubinCache.key(new CompileRequest("source2", "sm_80", List.of("-a", "-b")), "x"),
            CubinCache.key(new CompileRequest("source", "sm_89", List.of("-a", "-b")), "x"),
            CubinCache.key(new CompileRequest("source", "sm_80", List.of("-a-b")), "x"),
            CubinCache.key(new CompileRequest("source", "sm_80", List.of("-a")), "x"),
            CubinCache.key(new CompileRequest("-bsource", "sm_80", List.of("-a")), "x"));
    assertThat(keys).doesNotHaveDuplicates().allMatch(key -> key.matches("[0-9a-f]{64}"));
    assertThat(CubinCache.key(request, "x")).isEqualTo(keys.getFirst());
  }

  @Test
  void aDamagedEntryIsDeletedAndMissing() throws IOException {
    Random random = random();
    CubinCache cache = cache(LARGE);
    for (int round = 0; round < 50; round++) {
      cache.put("a", cubin("a", 300));
      Path file = folder.resolve("a.cubin");
      byte[] bytes = Files.readAllBytes(file);
      byte[] damaged =
          switch (round % 3) {
            case 0 -> java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length));
            case 1 -> java.util.Arrays.copyOf(bytes, bytes.length + 1);
            default -> {
              bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
              yield bytes;
            }
          };
      Files.write(file, damaged);
      assertThat(cache.get("a")).isEmpty();
      assertThat(file).doesNotExist();
    }
    cache.put("a", cubin("a", 300));
    assertThat(cache.get("a")).isPresent();
    assertThat(warnings).isEmpty();
  }

  @Test
  void theBoundHoldsAndWhatWasUsedLastStays() throws IOException {
    CubinCache cache = cache(10_000);
    for (int i = 0; i < 9; i++) {
      cache.put("k" + i, cubin("k" + i, 900));
      Files.setLastModifiedTime(
          folder.resolve("k" + i + ".cubin"), FileTime.from(Instant.now().minusSeconds(900 - i)));
    }
    assertThat(cache.get("k0")).isPresent();
    for (int i = 9; i < 12; i++) {
      cache.put("k" + i, cubin("k" + i, 900));
    }
    assertThat(size()).isLessThanOrEqualTo(10_000);
    assertThat(cache.get("k0")).as("used a moment ago").isPresent();
    assertThat(cache.get("k11")).as("just written").isPresent();
    assertThat(cache.get("k1")).as("used longest ago").isEmpty();
    cache.put("giant", cubin("giant", 20_000));
    assertThat(cache.get("giant")).isEmpty();
    assertThat(cache.get("k11")).isPresent();
  }

  @Test
  void anotherInstanceBoundsWhatItFinds() {
    CubinCache roomy = cache(LARGE);
    for (int i = 0; i < 20; i++) {
      roomy.put("k" + i, cubin("k" + i, 1000));
    }
    cache(5_000).put("new", cubin("new", 1000));
    assertThat(size()).isLessThanOrEqualTo(5_000);
  }

  @Test
  void draftsOfKilledProcessesGoAndYoungOnesStay() throws IOException {
    Path old = Files.writeString(folder.resolve(".warpwright-1.tmp"), "x");
    Files.setLastModifiedTime(old, FileTime.from(Instant.now().minusSeconds(7200)));
    Path young = Files.writeString(folder.resolve(".warpwright-2.tmp"), "x");
    cache(LARGE).put("a", cubin("a", 10));
    assertThat(old).doesNotExist();
    assertThat(young).exists();
  }

  @Test
  void aFolderThatCannotBeWrittenWarnsOnceAndWorksOn() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "x");
    CubinCache cache = new CubinCache(file.resolve("cubin"), LARGE, warnings::add);
    for (int i = 0; i < 3; i++) {
      cache.put("a", cubin("a", 10));
      assertThat(cache.get("a")).isEmpty();
    }
    assertThat(warnings).singleElement().asString().contains(file.toString()).doesNotContain("\n");
  }

  /** Nobody ever writes into this pipe: reading it would wait for ever. */
  @Test
  @Timeout(20)
  void whatIsNoFileIsMissingAndReplaced() throws Exception {
    Path pipe = folder.resolve("a.cubin");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    assertThat(cache(LARGE).get("a")).isEmpty();
    cache(LARGE).put("a", cubin("a", 10));
    assertThat(cache(LARGE).get("a")).isPresent();
  }

  @Test
  void aUserWithoutAHomeHasNoCache() {
    CubinCache none = new CubinCache(null, LARGE, warnings::add);
    none.put("a", cubin("a", 10));
    assertThat(none.get("a")).isEmpty();
    assertThat(warnings).isEmpty();
  }

  @Test
  void aReadOnlyFolderStillServes() throws IOException {
    cache(LARGE).put("a", cubin("a", 10));
    // Superuser may write anywhere, so the folder being read-only only shows for other users.
    boolean refuses = folder.toFile().setWritable(false) && !Files.isWritable(folder);
    try {
      assertThat(cache(LARGE).get("a")).isPresent();
      CubinCache cache = cache(LARGE);
      cache.put("b", cubin("b", 10));
      assertThat(warnings).hasSize(refuses ? 1 : 0);
    } finally {
      assertThat(folder.toFile().setWritable(true)).isTrue();
    }
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void threadsHammerOneFolder() throws Exception {
    try (ExecutorService pool = Executors.newFixedThreadPool(4)) {
      List<Future<Integer>> results = new ArrayList<>();
      long seed = random().nextLong();
      for (int t = 0; t < 4; t++) {
        Callable<Integer> work = hammer(folder, seed + t);
        results.add(pool.submit(work));
      }
      int hits = 0;
      for (Future<Integer> result : results) {
        hits += result.get();
      }
      assertThat(hits).isPositive();
    }
    afterHammering();
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void processesHammerOneFolder() throws Exception {
    List<Process> processes = new ArrayList<>();
    long seed = random().nextLong();
    for (int i = 0; i < 2; i++) {
      processes.add(
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "-cp",
                  System.getProperty("java.class.path"),
                  Hammer.class.getName(),
                  folder.toString(),
                  Long.toString(seed + i))
              .redirectErrorStream(true)
              .start());
    }
    for (Process process : processes) {
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      assertThat(process.waitFor()).as(output).isZero();
    }
    afterHammering();
  }

  /** A process of {@link #processesHammerOneFolder}. */
  static final class Hammer {
    public static void main(String[] args) throws Exception {
      int _ = hammer(Path.of(args[0]), Long.parseLong(args[1])).call();
    }
  }

  /** Reads, writes, damages and prunes at random; every answer must be the right entry. */
  private static Callable<Integer> hammer(Path folder, long seed) {
    return () -> {
      Random random = new Random(seed);
      List<String> complaints = new ArrayList<>();
      CubinCache cache = new CubinCache(folder, 40_000, complaints::add);
      int hits = 0;
      for (int i = 0; i < 600; i++) {
        String key = "k" + random.nextInt(30);
        if (random.nextInt(20) == 0) {
          Files.writeString(folder.resolve(key + ".cubin"), "damage");
        } else if (random.nextBoolean()) {
          cache.put(key, cubin(key, 2000));
        } else {
          Cubin found = cache.get(key).orElse(null);
          if (found != null) {
            hits++;
            if (!java.util.Arrays.equals(found.bytes(), cubin(key, 2000).bytes())) {
              throw new AssertionError("wrong entry for " + key);
            }
          }
        }
      }
      if (!complaints.isEmpty()) {
        throw new AssertionError(complaints.toString());
      }
      return hits;
    };
  }

  private void afterHammering() {
    // Two writers may each add an entry after the other's last listing; one more put lists again.
    CubinCache cache = cache(40_000);
    cache.put("last", cubin("last", 2000));
    assertThat(size()).isLessThanOrEqualTo(40_000);
    assertThat(names()).noneMatch(name -> name.endsWith(".tmp"));
    assertThat(cache.get("last")).isPresent();
  }

  @Test
  void aBoundMustBePositive() {
    assertThatThrownBy(() -> cache(0)).isInstanceOf(IllegalArgumentException.class);
  }

  private CubinCache cache(long bound) {
    return new CubinCache(folder, bound, warnings::add);
  }

  private static Cubin cubin(String key, int bytes) {
    byte[] code = new byte[bytes];
    new Random(key.hashCode()).nextBytes(code);
    return new Cubin(code, "log of " + key);
  }

  private static Random random() {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    return new Random(seed);
  }

  private List<String> names() {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private long size() {
    return names().stream().mapToLong(name -> folder.resolve(name).toFile().length()).sum();
  }
}
