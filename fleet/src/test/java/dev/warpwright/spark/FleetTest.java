package dev.warpwright.spark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.tune.Tuner;
import dev.warpwright.tune.TuningProgress;
import dev.warpwright.tune.fleet.Fleet;
import dev.warpwright.workload.WorkloadKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Searches on a Spark cluster of three executors on this machine, of which the first has no GPU and
 * two have simulated ones. The order matters only in that the first test sees all three as they
 * were started.
 */
@Timeout(1200)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class FleetTest {
  private static final int BATCH = 6;
  private static final long SEED = Long.getLong("seed", System.nanoTime() & 0xffff);
  private static final int KILLS = Integer.getInteger("kills", 3);
  private static final int TRIALS = Math.min(220, 40 + 20 * KILLS);

  /** Seconds that nothing here takes: a search that stops earlier has fewer trials than asked. */
  private static final int PATIENCE = 900;

  /** What the fleet has said. */
  private static final List<String> SAID = new CopyOnWriteArrayList<>();

  @TempDir private static Path folder;
  private static Fleet fleet;
  private static Fleet.Kind kind;
  private static TuningDatabase database;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    System.out.println("seed " + SEED);
    Path script = folder.resolve("gpus");
    Files.writeString(script, "#!/bin/sh\necho '{\"name\": \"gpu\", \"addresses\": [\"0\"]}'\n");
    assertThat(script.toFile().setExecutable(true)).isTrue();
    var settings = FleetSearch.settings(folder, "12");
    settings.put("spark.worker.resource.gpu.amount", "1");
    settings.put("spark.worker.resource.gpu.discoveryScript", script.toString());
    database = TuningDatabase.open(folder.resolve("records.db"));
    fleet = new SparkFleetProvider().open("local-cluster[3,1,1024]", settings, FleetTest::told);
    List<Fleet.Kind> kinds = fleet.kinds();
    assertThat(kinds).hasSize(1);
    kind = kinds.getFirst();
  }

  @AfterAll
  static void stop() {
    if (fleet != null) {
      fleet.close();
    }
    database.close();
  }

  private static void told(String line) {
    SAID.add(line);
    System.out.println(line);
  }

  /**
   * Tasks whose executor was silent for too long: on a machine that stops processes now and then
   * that happens to healthy ones, too, and only means that another one measures again.
   */
  private static int givenUp() {
    return Math.toIntExact(SAID.stream().filter(l -> l.contains("nothing heard of it")).count());
  }

  private static Tuner tuner(String name) {
    return FleetSearch.tuner(fleet, kind, name, database, SEED);
  }

  private static List<TuningRecord> records(String name) {
    return database.records(WorkloadKey.parse("fake name=" + name), FakeHost.ENVIRONMENT);
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) {
      Thread.sleep(20);
    }
  }

  private static boolean failed(TuningRecord record) {
    return record.outcome() instanceof Outcome.Failed;
  }

  /** Each record is what its point's kernel takes; none was made up. */
  private static void assertTrue(List<TuningRecord> records, int count) {
    assertThat(records).extracting(TuningRecord::point).doesNotHaveDuplicates().hasSize(count);
    assertThat(records)
        .allSatisfy(
            record -> {
              long x = Long.parseLong(String.valueOf(record.point().option("x")));
              if (x % 16 == 0) {
                assertThat(record.outcome())
                    .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.reason()).isEqualTo(FailureReason.COMPILE));
              } else {
                assertThat(record.outcome())
                    .isInstanceOfSatisfying(
                        Outcome.Measured.class,
                        measured -> assertThat(measured.timeUs()).isEqualTo(100.0 + x));
              }
            });
  }

  @Test
  @Order(1)
  void executorsWithoutGpusCompileOnly() throws InterruptedException {
    assertThat(kind.devices()).isEqualTo(2);
    // Which points are tried first depends on who answers first: one in twenty searches of 48 meets
    // none that does not compile, one of all 256 points meets every one.
    int trials = 48;
    tuner("compiled").run(new Tuner.Limits(trials, PATIENCE));
    while (trials < 256 && records("compiled").stream().noneMatch(FleetTest::failed)) {
      trials += 16;
      tuner("compiled").run(new Tuner.Limits(trials, PATIENCE));
    }
    List<TuningRecord> records = records("compiled");
    assertTrue(records, trials);
    assertThat(records)
        .extracting(TuningRecord::outcome)
        .contains(new Outcome.Failed(FailureReason.COMPILE, "far away"));
    if (givenUp() > 0) {
      return;
    }
    assertThat(FakeHost.measured(folder))
        .as("on one device, none twice")
        .hasSize(
            (int) records.stream().filter(r -> r.outcome() instanceof Outcome.Measured).count())
        .extracting(line -> line.substring(line.indexOf(' ')))
        .containsOnly(FakeHost.measured(folder).getFirst().replaceAll("\\d+ ", " "));
  }

  /** The processes of executors that are alive. */
  private static List<ProcessHandle> executors() throws IOException {
    List<ProcessHandle> alive = new ArrayList<>();
    try (var files = Files.newDirectoryStream(folder, "executor-*")) {
      for (Path file : files) {
        ProcessHandle.of(Long.parseLong(Files.readString(file)))
            .filter(ProcessHandle::isAlive)
            .ifPresent(alive::add);
      }
    }
    return alive;
  }

  @Test
  @Order(2)
  void killedExecutorsLoseNothing() throws Exception {
    Random random = new Random(SEED);
    List<String> names = List.of("a", "b", "c");
    int before = FakeHost.measured(folder).size();
    List<Future<TuningProgress>> searches = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(names.size())) {
      for (String name : names) {
        Callable<TuningProgress> search = () -> tuner(name).run(new Tuner.Limits(TRIALS, PATIENCE));
        searches.add(threads.submit(search));
      }
      for (int kill = 1; kill <= KILLS; kill++) {
        int wanted = kill * names.size() * TRIALS / (KILLS + 2);
        await(() -> names.stream().mapToInt(name -> records(name).size()).sum() >= wanted);
        List<ProcessHandle> alive = executors();
        assertThat(alive.get(random.nextInt(alive.size())).destroyForcibly()).isTrue();
      }
      for (Future<TuningProgress> search : searches) {
        assertThat(search.get().trials()).isEqualTo(TRIALS);
      }
    }
    await(() -> fleet.remarks().toString().contains(KILLS + " executors ended"));
    int measured = 0;
    for (String name : names) {
      assertTrue(records(name), TRIALS);
      measured +=
          (int)
              records(name).stream()
                  .filter(record -> record.outcome() instanceof Outcome.Measured)
                  .count();
    }
    assertThat(FakeHost.measured(folder).size() - before)
        .as("only what an executor had when it was killed or given up is measured twice")
        .isBetween(measured, measured + (KILLS + givenUp()) * BATCH);
  }

  /** Who measured last. */
  private static String home(Tuner tuner, int trials) throws InterruptedException {
    List<String> before = FakeHost.measured(folder);
    tuner.run(new Tuner.Limits(trials, PATIENCE));
    List<String> after = new ArrayList<>(FakeHost.measured(folder));
    before.forEach(after::remove);
    return after.getLast().replaceAll(".* ", "");
  }

  @Test
  @Order(3)
  void executorsThatHangAreGivenUp() throws Exception {
    Tuner tuner = tuner("stalled");
    String executor = home(tuner, 12);
    Path stall = Files.createFile(folder.resolve("stall-" + executor));
    tuner.run(new Tuner.Limits(24, PATIENCE));
    Files.delete(stall);
    assertTrue(records("stalled"), 24);
    assertThat(fleet.remarks())
        .anySatisfy(
            line ->
                assertThat(line).startsWith("host-" + executor + " ").contains("nothing heard"));
  }

  @Test
  @Order(4)
  void poisonedHostsAreLeftAlone() throws Exception {
    Tuner tuner = tuner("poisoned");
    String executor = home(tuner, 12);
    Files.createFile(folder.resolve("poison-" + executor));
    tuner.run(new Tuner.Limits(48, PATIENCE));
    assertTrue(records("poisoned"), 48);
    assertThat(fleet.remarks())
        .anySatisfy(
            line ->
                assertThat(line)
                    .startsWith("host-" + executor + " ")
                    .contains("was left alone")
                    .contains("its anchor kernel fails: wrong"));
  }

  @Test
  @Order(5)
  void killedDriversResume() throws Exception {
    Path mine = Files.createDirectory(folder.resolve("driver"));
    Path file = mine.resolve("driver.db");
    Process first = driver(mine, file, "60");
    try (TuningDatabase records = TuningDatabase.open(file)) {
      WorkloadKey key = WorkloadKey.parse("fake name=local");
      await(() -> records.records(key, FakeHost.ENVIRONMENT).size() >= 10);
      first.destroyForcibly().waitFor();
      int known = records.records(key, FakeHost.ENVIRONMENT).size();
      assertThat(said(driver(mine, file, "60")))
          .contains("resumed " + known + " trials 60 ")
          .doesNotContain("UNMEASURED");
      assertTrue(records.records(key, FakeHost.ENVIRONMENT), 60);
      assertThat(FakeHost.measured(mine)).hasSizeBetween(50, 60 + 2 * BATCH);

      // No machine is left: that is no fault of the candidates, and nothing is written of them.
      Files.createFile(mine.resolve("poison-driver"));
      assertThat(said(driver(mine, file, "72", "1")))
          .contains("resumed 60 trials 72 ")
          .contains("UNMEASURED=12");
      assertTrue(records.records(key, FakeHost.ENVIRONMENT), 60);
    }
  }

  private static String said(Process driver) throws IOException, InterruptedException {
    String said = new String(driver.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(driver.waitFor()).isZero();
    return said;
  }

  private static Process driver(Path mine, Path file, String... limits) throws IOException {
    List<String> command = new ArrayList<>(List.of(ApplicationClassPath.java()));
    command.addAll(FleetSearch.BRIEF);
    command.addAll(
        List.of(
            "--sun-misc-unsafe-memory-access=allow",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            FleetSearch.class.getName(),
            file.toString()));
    command.addAll(List.of(limits));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put(FakeHost.FOLDER, mine.toString());
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    return builder.start();
  }
}
