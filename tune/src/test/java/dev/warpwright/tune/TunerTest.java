package dev.warpwright.tune;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.space.Spaces;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.tune.search.BoostedTrees;
import dev.warpwright.tune.search.CostModel;
import dev.warpwright.tune.search.EvolutionarySearch;
import dev.warpwright.tune.search.ExhaustiveSearch;
import dev.warpwright.tune.search.Proposals;
import dev.warpwright.tune.search.RandomSearch;
import dev.warpwright.tune.search.Strategy;
import dev.warpwright.workload.WorkloadKey;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TunerTest {
  private static final Environment ENVIRONMENT =
      new Environment("sm_90a", "NVIDIA H200", "580.1", "13.0", "0.1");
  private static final WorkloadKey WORKLOAD = WorkloadKey.parse("gemm k=1 m=2 n=3");

  @TempDir private Path folder;

  private TuningProgress tune(Space space, Strategy strategy, Proposals proposals, int trials)
      throws InterruptedException {
    return tune(
        space, strategy, proposals, trials, new FakeMeasurer(8, FakeMeasurer::bigTime), "a.db");
  }

  private TuningProgress tune(
      Space space,
      Strategy strategy,
      Proposals proposals,
      int trials,
      FakeMeasurer measurer,
      String file)
      throws InterruptedException {
    try (TuningDatabase database = TuningDatabase.open(folder.resolve(file))) {
      return new Tuner(
              new TuningTask(WORKLOAD, ENVIRONMENT, space),
              strategy,
              proposals,
              measurer,
              database,
              progress -> {})
          .run(new Tuner.Limits(trials, 60));
    }
  }

  @Test
  void exhaustiveSearchFindsTheBestOfAll() throws InterruptedException {
    Space space = Spaces.big();
    Proposals proposals = new Proposals();
    TuningProgress done =
        tune(space, new ExhaustiveSearch(space, 10_000, proposals), proposals, 10_000);
    assertThat(done.trials()).isEqualTo(16 * 16 * 16);
    assertThat(Objects.requireNonNull(done.best()).candidate().point().text())
        .isEqualTo("sketch=big x0=5 x1=9 x2=3");
    assertThat(done.best().outcome().timeUs()).isEqualTo(10);
  }

  @Test
  void rejectionsAreCountedByReason() throws InterruptedException {
    Space space = Spaces.dependent();
    Proposals proposals = new Proposals();
    TuningProgress done =
        tune(
            space,
            new ExhaustiveSearch(space, 100, proposals),
            proposals,
            100,
            new FakeMeasurer(
                3,
                c ->
                    c.point().text().contains("ways=4")
                        ? new Outcome.Failed(FailureReason.HANG, "no end in 2 s")
                        : new Outcome.Measured(c.features().predictedUs(), 0, 0, 1980, 40)),
            "b.db");
    assertThat(done.trials()).isEqualTo(7);
    assertThat(done.rejections())
        .containsExactlyEntriesOf(new TreeMap<>(Map.of("shared memory", 1)));
    assertThat(done.failures())
        .containsOnlyKeys(FailureReason.HANG)
        .containsEntry(FailureReason.HANG, 1);
    assertThat(Objects.requireNonNull(done.best()).outcome().timeUs()).isEqualTo(1);
  }

  @Test
  void anInterruptedSearchGoesOn() throws InterruptedException {
    Space space = Spaces.big();
    FakeMeasurer first = new FakeMeasurer(8, FakeMeasurer::bigTime);
    Proposals proposals = new Proposals();
    tune(space, random(space, 1, proposals), proposals, 50, first, "c.db");
    assertThat(first.measured).hasSize(50);

    FakeMeasurer second = new FakeMeasurer(8, FakeMeasurer::bigTime);
    Proposals again = new Proposals();
    TuningProgress done = tune(space, random(space, 1, again), again, 80, second, "c.db");
    assertThat(done.resumed()).isEqualTo(50);
    assertThat(done.trials()).isEqualTo(80);
    assertThat(second.measured).hasSize(30);
    List<Point> points = new ArrayList<>(first.measured.stream().map(Candidate::point).toList());
    points.addAll(second.measured.stream().map(Candidate::point).toList());
    assertThat(points).doesNotHaveDuplicates();
  }

  /**
   * That machines fail says nothing about a candidate: it is no record, and its turn comes again.
   */
  @Test
  void whatNobodyMeasuredIsNoRecord() throws InterruptedException {
    Space space = Spaces.dependent();
    Function<Candidate, Outcome> well =
        c -> new Outcome.Measured(c.features().predictedUs(), 0, 0, 1980, 40);
    FakeMeasurer failing =
        new FakeMeasurer(
            3,
            c ->
                c.point().text().contains("ways=4")
                    ? new Outcome.Failed(FailureReason.UNMEASURED, "no device is left")
                    : well.apply(c));
    Proposals first = new Proposals();
    TuningProgress told =
        tune(space, new ExhaustiveSearch(space, 100, first), first, 100, failing, "u.db");
    assertThat(told.trials()).isEqualTo(7);
    assertThat(told.failures()).isEqualTo(Map.of(FailureReason.UNMEASURED, 1));
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("u.db"))) {
      assertThat(database.records(WORKLOAD, ENVIRONMENT))
          .hasSize(6)
          .allSatisfy(r -> assertThat(r.outcome()).isInstanceOf(Outcome.Measured.class));
    }
    FakeMeasurer mended = new FakeMeasurer(3, well);
    Proposals again = new Proposals();
    TuningProgress done =
        tune(space, new ExhaustiveSearch(space, 100, again), again, 100, mended, "u.db");
    assertThat(mended.measured)
        .singleElement()
        .satisfies(c -> assertThat(c.point().text()).contains("ways=4"));
    assertThat(done.resumed()).isEqualTo(6);
    assertThat(done.failures()).isEmpty();
  }

  /** What is confirmed keeps its time where nobody can measure it again. */
  @Test
  void aTimeOutlivesTheMachinesThatMeasuredIt() throws InterruptedException {
    Space space = new Space(List.of(Spaces.sketch("three", d -> d.choose("n", 1, 2, 3))));
    AtomicBoolean gone = new AtomicBoolean();
    FakeMeasurer measurer =
        new FakeMeasurer(
            2,
            c ->
                gone.get()
                    ? new Outcome.Failed(FailureReason.UNMEASURED, "no device is left")
                    : new Outcome.Measured(c.features().predictedUs(), 0, 0, 1980, 40));
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("gone.db"))) {
      Tuner tuner = exhaustive(space, measurer, database);
      TuningProgress before = tuner.run(new Tuner.Limits(3, 60));
      gone.set(true);
      TuningProgress after = tuner.confirm(2);
      assertThat(after.best()).isNotNull().isEqualTo(before.best());
      assertThat(database.records(WORKLOAD, ENVIRONMENT)).hasSize(3);
    }
  }

  @Test
  void whatWasLuckyIsMeasuredAgain() throws InterruptedException {
    Space space =
        new Space(List.of(Spaces.sketch("eight", d -> d.choose("n", 1, 2, 3, 4, 5, 6, 7, 8))));
    // The slowest seems to be the fastest when it is measured for the first time.
    Map<Double, Integer> seen = new HashMap<>();
    FakeMeasurer measurer =
        new FakeMeasurer(
            2,
            c -> {
              double n = c.features().predictedUs();
              boolean lucky = seen.merge(n, 1, Integer::sum) == 1 && n == 8;
              return new Outcome.Measured(lucky ? 5 : 10 + n, 0, 0, 1980, 40);
            });
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("lucky.db"))) {
      Tuner tuner = exhaustive(space, measurer, database);
      assertThat(Objects.requireNonNull(tuner.run(new Tuner.Limits(100, 60)).best()).outcome())
          .extracting(Outcome.Measured::timeUs)
          .isEqualTo(5.0);
      TuningProgress done = tuner.confirm(1);
      assertThat(Objects.requireNonNull(done.best()).candidate().point().text())
          .isEqualTo("sketch=eight n=1");
      assertThat(done.trials()).isEqualTo(8);
      assertThat(seen).containsEntry(8.0, 2).containsEntry(1.0, 2).containsEntry(2.0, 1);
      // A later search knows it, too.
      TuningProgress later = exhaustive(space, measurer, database).run(new Tuner.Limits(8, 60));
      assertThat(later.resumed()).isEqualTo(8);
      assertThat(later.best()).isEqualTo(done.best());
    }
  }

  @Test
  void whatWasRecordedBeforeThereWasADecisionIsMeasuredAgainToo() throws InterruptedException {
    Space former = new Space(List.of(Spaces.sketch("s", d -> d.choose("n", 1, 2))));
    Space today =
        new Space(List.of(Spaces.sketch("s", d -> d.choose("n", 1, 2) + d.choose("late", 0, 2))));
    FakeMeasurer flattering = new FakeMeasurer(2, c -> new Outcome.Measured(0.5, 0, 0, 1980, 40));
    FakeMeasurer right =
        new FakeMeasurer(2, c -> new Outcome.Measured(c.features().predictedUs(), 0, 0, 1980, 40));
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("former.db"))) {
      exhaustive(former, flattering, database).run(new Tuner.Limits(100, 60));
      Tuner tuner = exhaustive(today, right, database);
      tuner.run(new Tuner.Limits(100, 60));
      TuningProgress done = tuner.confirm(2);
      assertThat(Objects.requireNonNull(done.best()).outcome().timeUs()).isEqualTo(1);
      assertThat(database.best(WORKLOAD, "sm_90a", "NVIDIA H200").orElseThrow().outcome())
          .isEqualTo(done.best().outcome());
    }
  }

  private static Tuner exhaustive(Space space, FakeMeasurer measurer, TuningDatabase database) {
    Proposals proposals = new Proposals();
    return new Tuner(
        new TuningTask(WORKLOAD, ENVIRONMENT, space),
        new ExhaustiveSearch(space, 100, proposals),
        proposals,
        measurer,
        database,
        progress -> {});
  }

  @Test
  void whatIsBegunIsMeasuredWhenItsTurnComesAndInTheSameOrder() throws InterruptedException {
    FakeMeasurer inOne = new FakeMeasurer(4, FakeMeasurer::bigTime);
    FakeMeasurer inTurn = new FakeMeasurer(4, FakeMeasurer::bigTime);
    try (TuningDatabase one = TuningDatabase.open(folder.resolve("one.db"));
        TuningDatabase other = TuningDatabase.open(folder.resolve("other.db"))) {
      TuningProgress expected = exhaustive(Spaces.big(), inOne, one).run(new Tuner.Limits(10, 60));
      assertThat(inOne.ahead).isEmpty();
      assertThat(inOne.prepared).hasSize(1);

      Tuner tuner = exhaustive(Spaces.big(), inTurn, other);
      tuner.begin(new Tuner.Limits(10, 60));
      assertThat(points(inTurn.ahead)).isEqualTo(points(inOne.measured).subList(0, 4));
      assertThat(points(inTurn.prepared)).isEqualTo(points(inOne.prepared));
      assertThat(inTurn.measured).isEmpty();
      assertThat(other.records(WORKLOAD, ENVIRONMENT)).isEmpty();
      TuningProgress done = tuner.run(new Tuner.Limits(10, 60));
      assertThat(points(inTurn.measured)).isEqualTo(points(inOne.measured)).hasSize(10);
      assertThat(done.trials()).isEqualTo(10);
      assertThat(Objects.requireNonNull(done.best()).outcome())
          .isEqualTo(Objects.requireNonNull(expected.best()).outcome());
      assertThat(inTurn.prepared).as("once a search").hasSize(1);

      // What is known already is not begun again.
      FakeMeasurer again = new FakeMeasurer(4, FakeMeasurer::bigTime);
      Tuner resumed = exhaustive(Spaces.big(), again, other);
      resumed.begin(new Tuner.Limits(10, 60));
      assertThat(resumed.run(new Tuner.Limits(10, 60)).resumed()).isEqualTo(10);
      assertThat(again.ahead).isEmpty();
      assertThat(again.measured).isEmpty();
    }
  }

  private static List<Point> points(List<Candidate> candidates) {
    return candidates.stream().map(Candidate::point).toList();
  }

  @Test
  void evolutionWithAModelBeatsChance() throws InterruptedException {
    CostModel trees = new BoostedTrees();
    double chance = 0;
    double evolved = 0;
    for (int seed = 0; seed < 5; seed++) {
      Space space = Spaces.big();
      Proposals proposals = new Proposals();
      chance += bestOf(space, random(space, seed, proposals), proposals, "r" + seed);
      Proposals others = new Proposals();
      Strategy evolution =
          new EvolutionarySearch(space, trees, List.of(), new SplittableRandom(seed), others);
      evolved += bestOf(space, evolution, others, "e" + seed);
    }
    // The best of 4096 takes 10 us.
    assertThat(evolved / 5).isLessThan(10.6).isLessThan(chance / 5);
  }

  private double bestOf(Space space, Strategy strategy, Proposals proposals, String file)
      throws InterruptedException {
    FakeMeasurer measurer = new FakeMeasurer(8, FakeMeasurer::bigTime);
    TuningProgress done = tune(space, strategy, proposals, 64, measurer, file);
    return Objects.requireNonNull(done.best()).outcome().timeUs();
  }

  @Test
  void seedsAreTriedFirst() throws InterruptedException {
    Space space = Spaces.big();
    Proposals proposals = new Proposals();
    FakeMeasurer measurer = new FakeMeasurer(4, FakeMeasurer::bigTime);
    Point seed = Point.parse("sketch=big x0=15 x1=15 x2=15");
    Strategy evolution =
        new EvolutionarySearch(
            space, CostModel.analytic(), List.of(seed), new SplittableRandom(1), proposals);
    tune(space, evolution, proposals, 8, measurer, "s.db");
    assertThat(measurer.measured.getFirst().point()).isEqualTo(seed);
    // Without another word the analytic model decides.
    assertThat(measurer.measured.get(1).features().predictedUs()).isLessThan(20);
  }

  /** Among many searches each has one trial at first. */
  @Test
  void noSeedIsLostWhereTrialsComeOneByOne() {
    Space space = Spaces.big();
    List<Point> seeds =
        List.of(
            Point.parse("sketch=big x0=15 x1=15 x2=15"), Point.parse("sketch=big x0=1 x1=2 x2=3"));
    Strategy evolution =
        new EvolutionarySearch(
            space, CostModel.analytic(), seeds, new SplittableRandom(1), new Proposals());
    List<Point> proposed = new ArrayList<>(points(evolution.propose(1)));
    proposed.addAll(points(evolution.propose(2)));
    assertThat(proposed).hasSize(3).startsWith(seeds.toArray(Point[]::new));
  }

  private static Strategy random(Space space, long seed, Proposals proposals) {
    return new RandomSearch(space, new SplittableRandom(seed), proposals);
  }

  @Test
  void aTimeCanBeTakenBack() throws InterruptedException {
    Space space = Spaces.big();
    Path file = folder.resolve("back.db");
    Point rejected;
    try (TuningDatabase database = TuningDatabase.open(file)) {
      Proposals proposals = new Proposals();
      Tuner tuner =
          new Tuner(
              new TuningTask(WORKLOAD, ENVIRONMENT, space),
              new ExhaustiveSearch(space, 10_000, proposals),
              proposals,
              new FakeMeasurer(8, FakeMeasurer::bigTime),
              database,
              progress -> {});
      TuningProgress.Best best =
          Objects.requireNonNull(tuner.run(new Tuner.Limits(100, 60)).best());
      TuningProgress after =
          tuner.reject(best.candidate(), new Outcome.Failed(FailureReason.WRONG, "a row"));
      TuningProgress.Best next = Objects.requireNonNull(after.best());
      assertThat(next.candidate().point()).isNotEqualTo(best.candidate().point());
      assertThat(next.outcome().timeUs()).isGreaterThan(best.outcome().timeUs());
      rejected = best.candidate().point();
      assertThat(after.failures()).containsEntry(FailureReason.WRONG, 1);
    }
    try (TuningDatabase database = TuningDatabase.open(file)) {
      assertThat(database.best(WORKLOAD, "sm_90a", "NVIDIA H200").orElseThrow().point())
          .isNotEqualTo(rejected);
    }
  }
}
