package dev.warpwright.tune;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.Features;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

final class TaskSchedulerTest {
  /** A search whose best time after n trials is a function of n, up to an end. */
  private static final class Curve implements TaskScheduler.Search {
    private final IntToDoubleFunction time;
    private final int end;
    int trials;

    Curve(int end, IntToDoubleFunction time) {
      this.time = time;
      this.end = end;
    }

    @Override
    public TuningProgress run(Tuner.Limits limits) {
      trials = Math.max(trials, Math.min(end, limits.trials()));
      Candidate candidate =
          new Candidate(
              Point.EMPTY,
              new Features(List.of(), new double[0], 1),
              () -> {
                throw new IllegalStateException("is not built");
              },
              Map.of());
      TuningProgress.Best best =
          trials == 0
              ? null
              : new TuningProgress.Best(
                  candidate, "", new Outcome.Measured(time.applyAsDouble(trials), 0, 0, 0, 0));
      return new TuningProgress(
          trials, 0, limits.trials(), 0, best, Map.of(), new TreeMap<>(), new ArrayList<>());
    }
  }

  private static List<TuningProgress> run(int trials, TaskScheduler.Task... tasks)
      throws InterruptedException {
    return TaskScheduler.run(List.of(tasks), new Tuner.Limits(trials, 60));
  }

  @Test
  void whatGainsMoreIsGivenMore() throws InterruptedException {
    Curve falling = new Curve(10_000, n -> 1000.0 - n);
    Curve stuck = new Curve(10_000, n -> 100.0);
    List<TuningProgress> done =
        run(400, new TaskScheduler.Task(falling, 1), new TaskScheduler.Task(stuck, 1));
    assertThat(falling.trials + stuck.trials).isEqualTo(400);
    assertThat(falling.trials).isGreaterThan(300);
    assertThat(stuck.trials).as("at least a round").isGreaterThanOrEqualTo(16);
    assertThat(done)
        .extracting(TuningProgress::trials)
        .containsExactly(falling.trials, stuck.trials);
  }

  @Test
  void whatOccursMoreOftenIsGivenMore() throws InterruptedException {
    Curve once = new Curve(10_000, n -> 100.0 + 100.0 / n);
    Curve often = new Curve(10_000, n -> 100.0 + 100.0 / n);
    run(400, new TaskScheduler.Task(once, 1), new TaskScheduler.Task(often, 10));
    assertThat(often.trials).isGreaterThan(2 * once.trials);
  }

  @Test
  void whatIsExhaustedLeavesItsTrialsToOthers() throws InterruptedException {
    Curve small = new Curve(5, n -> 1000.0);
    Curve large = new Curve(10_000, n -> 1.0);
    run(100, new TaskScheduler.Task(small, 1), new TaskScheduler.Task(large, 1));
    assertThat(small.trials).isEqualTo(5);
    assertThat(large.trials).isEqualTo(95);
    Curve none = new Curve(5, n -> 1.0);
    run(100, new TaskScheduler.Task(none, 1));
    assertThat(none.trials).isEqualTo(5);
  }

  @Test
  void fewTrialsAreShared() throws InterruptedException {
    Curve a = new Curve(100, n -> 1.0);
    Curve b = new Curve(100, n -> 1.0);
    Curve c = new Curve(100, n -> 1.0);
    run(
        4,
        new TaskScheduler.Task(a, 1),
        new TaskScheduler.Task(b, 1),
        new TaskScheduler.Task(c, 1));
    assertThat(a.trials + b.trials + c.trials).isEqualTo(4);
    assertThat(List.of(a.trials, b.trials, c.trials)).allMatch(trials -> trials >= 1);
  }

  @Test
  void whatReachesItsTargetLeavesItsTrialsToOthers() throws InterruptedException {
    Curve quick = new Curve(10_000, n -> 1000.0 - n);
    Curve slow = new Curve(10_000, n -> 10.0 + 1.0 / n);
    run(200, new TaskScheduler.Task(quick, 1, 970), new TaskScheduler.Task(slow, 1));
    assertThat(quick.trials).isEqualTo(32);
    assertThat(slow.trials).isEqualTo(168);
    Curve all = new Curve(10_000, n -> 1000.0 - n);
    run(200, new TaskScheduler.Task(all, 1, 990));
    assertThat(all.trials).as("ends where all targets are reached").isEqualTo(16);
  }

  /** The longer ones by place, each with the same to gain of its time. */
  private static List<Curve> fifty() {
    List<Curve> curves = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      int level = i + 1;
      curves.add(new Curve(10_000, n -> level * (1 + 1.0 / n)));
    }
    return curves;
  }

  private static List<TaskScheduler.Task> once(List<Curve> curves) {
    return curves.stream().map(curve -> new TaskScheduler.Task(curve, 1)).toList();
  }

  @Test
  void theLongestHasMostToGain() throws InterruptedException {
    List<Curve> curves = fifty();
    TaskScheduler.run(once(curves), new Tuner.Limits(2000, 60));
    assertThat(curves.stream().mapToInt(curve -> curve.trials).sum()).isEqualTo(2000);
    assertThat(curves.get(49).trials).isGreaterThan(40);
  }

  @Test
  void severalAtATimeShareTheSameTrials() throws InterruptedException {
    List<Curve> curves = fifty();
    List<Integer> told = new ArrayList<>();
    List<TuningProgress> done =
        TaskScheduler.run(
            once(curves), new Tuner.Limits(2000, 60), 4, standing -> told.add(standing.place()));
    assertThat(curves.stream().mapToInt(curve -> curve.trials).sum()).isEqualTo(2000);
    // Not more of one alone: where a thread waits for a core with its search, others get the
    // trials.
    assertThat(done).hasSize(50).allMatch(progress -> progress.trials() >= 1);
    assertThat(told).as("each is told of").contains(0, 25, 49);
    assertThat(curves.subList(25, 50).stream().mapToInt(curve -> curve.trials).sum())
        .as("the longer ones have more to gain")
        .isGreaterThan(curves.subList(0, 25).stream().mapToInt(curve -> curve.trials).sum());
  }

  @Test
  void whatFailsEndsAll() {
    TaskScheduler.Search broken =
        limits -> {
          throw new IllegalStateException("no database");
        };
    assertThatThrownBy(
            () ->
                run(
                    100,
                    new TaskScheduler.Task(broken, 1),
                    new TaskScheduler.Task(new Curve(10, n -> 1.0), 1)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("no database");
  }
}
