package dev.warpwright.spark;

import dev.warpwright.space.Space;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.tune.Tuner;
import dev.warpwright.tune.TuningProgress;
import dev.warpwright.tune.TuningTask;
import dev.warpwright.tune.fleet.Fleet;
import dev.warpwright.tune.search.Proposals;
import dev.warpwright.tune.search.RandomSearch;
import dev.warpwright.workload.WorkloadKey;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A search on a fleet of {@link FakeHost}s, by itself the main class of a driver that is killed.
 */
final class FleetSearch {
  /** Of processes that live for seconds, most of which loading Spark's classes takes. */
  static final List<String> BRIEF =
      List.of(
          "-XX:TieredStopAtLevel=1",
          "-XX:+UseSerialGC",
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:-BytecodeVerificationRemote");

  private FleetSearch() {}

  static Map<String, String> settings(Path folder, String silence) {
    Map<String, String> settings = new HashMap<>();
    settings.put(FleetSettings.HOST, FakeHost.class.getName());
    settings.put("spark.warpwright.batch", "6");
    settings.put("spark.warpwright.silence", silence);
    settings.put("spark.warpwright.anchor.seconds", "0");
    settings.put("spark.warpwright.drift", "0.5");
    // On a busy machine executors take their time to start.
    settings.put("spark.warpwright.start.seconds", "240");
    settings.put("spark.executorEnv." + FakeHost.FOLDER, folder.toString());
    settings.put("spark.executor.extraJavaOptions", String.join(" ", BRIEF));
    settings.put("spark.driver.host", "127.0.0.1");
    settings.put("spark.driver.bindAddress", "127.0.0.1");
    return settings;
  }

  static Tuner tuner(
      Fleet fleet, Fleet.Kind kind, String name, TuningDatabase database, long seed) {
    WorkloadKey key = WorkloadKey.parse("fake name=" + name);
    Space space = FakeHost.space();
    Proposals proposals = new Proposals();
    return new Tuner(
        new TuningTask(key, kind.environment(), space),
        new RandomSearch(space, new SplittableRandom(seed), proposals),
        proposals,
        fleet.measurer(kind, key, false),
        database,
        now -> {});
  }

  /**
   * Tunes; arguments are the database, the number of trials, how many seconds work waits for a
   * device, and where, which is {@code local[1]} unless it is given.
   */
  public static void main(String[] args) throws InterruptedException {
    Map<String, String> settings = settings(FakeHost.folder(), "60");
    if (args.length > 2) {
      settings.put("spark.warpwright.patience", args[2]);
    }
    String master = args.length > 3 ? args[3] : "local[1]";
    try (TuningDatabase database = TuningDatabase.open(Path.of(args[0]));
        Fleet fleet = new SparkFleetProvider().open(master, settings, System.err::println)) {
      List<Fleet.Kind> kinds = fleet.kinds();
      Tuner tuner = tuner(fleet, kinds.getFirst(), "local", database, 3);
      TuningProgress done = tuner.run(new Tuner.Limits(Integer.parseInt(args[1]), 900));
      System.out.printf(
          Locale.ROOT,
          "resumed %d trials %d failures %s%n",
          done.resumed(),
          done.trials(),
          done.failures());
    }
  }
}
