package dev.warpwright.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Iteration;
import dev.warpwright.schedule.analysis.Span;
import dev.warpwright.schedule.trace.Trace;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Primitives in random order, with random arguments, most of which are refused: whatever is
 * accepted does not change a bit of the result. {@code -Dwarpwright.seed=N} tries other ones,
 * {@code -Dwarpwright.programs=N} more or fewer.
 */
final class RandomScheduleTest {
  private static final int STEPS = 25;

  /** Splits by factors that do not divide make loops longer and longer. */
  private static final long MAX_INSTANCES = 4_000;

  /** What has to be accepted at least once. */
  private static final List<String> PRIMITIVES =
      List.of(
          "annotateBlock",
          "annotateLoop",
          "bind",
          "blockOrder",
          "blockize",
          "cacheRead",
          "cacheWrite",
          "cluster",
          "compact",
          "computeAt",
          "computeInline",
          "decomposeReduction",
          "fuse",
          "merge",
          "mergeGrids",
          "pad",
          "padRepeating",
          "parallel",
          "persistent",
          "pipeline",
          "reorder",
          "reverseComputeAt",
          "reverseComputeInline",
          "rfactor",
          "roles",
          "sampleCategorical",
          "samplePerfectTile",
          "setLayout",
          "setScope",
          "split",
          "splitK",
          "storageAlign",
          "streamK",
          "tensorize",
          "transformLayout",
          "unroll",
          "vectorize");

  private final long seed = Long.getLong("warpwright.seed", 1);
  private final int programs = Integer.getInteger("warpwright.programs", 3_000);

  @Test
  void acceptedStepsKeepTheAnswer() {
    long[] seeds = new SplittableRandom(seed).longs(programs).toArray();
    Map<String, Integer> accepted = new ConcurrentSkipListMap<>();
    Map<Integer, AssertionError> wrong = new ConcurrentSkipListMap<>();
    IntStream.range(0, programs)
        .parallel()
        .forEach(
            p -> {
              try {
                for (String primitive : accepted(seeds[p])) {
                  accepted.merge(primitive, 1, Integer::sum);
                }
              } catch (AssertionError e) {
                wrong.put(p, e);
              }
            });
    System.out.println("Random schedules, seed " + seed + ", programs by primitive: " + accepted);
    wrong.forEach(
        (p, e) -> {
          throw new AssertionError("seed " + seed + ", program " + p + ", " + e.getMessage(), e);
        });
    assertThat(accepted.keySet()).as("accepted, seed %d", seed).containsAll(PRIMITIVES);
  }

  /** The primitives that one program accepted, after which its answer is as it was. */
  static Set<String> accepted(long programSeed) {
    SplittableRandom random = new SplittableRandom(programSeed);
    PrimFunc func = RandomPrograms.next(random);
    Schedule schedule = new Schedule(func, programSeed);
    try {
      for (int step = 0; step < STEPS && instances(schedule.func()) < MAX_INSTANCES; step++) {
        RandomSteps.next(schedule, random);
      }
      assertThat(instances(schedule.func())).isLessThan(500 * MAX_INSTANCES);
      long rows = random.nextInt(0, 9);
      Set<String> used = new HashSet<>();
      schedule.trace().instructions().forEach(x -> used.add(x.op()));
      if (used.contains("rfactor") || used.contains("splitK")) {
        Functions.assertSameSums(func, schedule.func(), rows);
      } else {
        Functions.assertSameResults(func, schedule.func(), rows);
      }
      PrimFunc replayed = Replay.func(Trace.parse(schedule.trace().toJson()), func);
      assertThat(StructuralEquality.difference(schedule.func(), replayed)).isEmpty();
      return used;
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(
          e.getMessage() + "\n" + schedule.trace().toJson() + IrPrinter.text(schedule.func()), e);
    }
  }

  /** How often leaves are reached, symbolic extents taken for 8. */
  private static long instances(PrimFunc func) {
    long most = 0;
    for (Access access : Accesses.of(func.body())) {
      double count = 1;
      for (Iteration iteration : access.inner()) {
        Span span = iteration.span();
        count *= span == null ? 8 : span.size();
      }
      most = Math.max(most, (long) count);
    }
    return most;
  }
}
