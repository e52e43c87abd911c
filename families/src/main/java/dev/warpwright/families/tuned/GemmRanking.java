package dev.warpwright.families.tuned;

import dev.warpwright.base.UserError;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * The analytic model's choices for a GEMM, the one it thinks fastest first: found by sampling and
 * by climbing from the best samples; always the same.
 */
final class GemmRanking {
  /** Points from which the best are sought, how many of them it is sought from, and how far. */
  private static final int SAMPLES = 2000;

  private static final int STARTS = 24;
  private static final int CLIMBS = 300;

  /** Decisions that hardly change a thread's code: where one point spills, the others do too. */
  private static final Set<String> INDIFFERENT = Set.of("order", "stages", "resident", "panel");

  /** Decisions that say how many registers a thread may have, and what it needs beside its tile. */
  private static final Set<String> OF_A_KIND = Set.of("sketch", "consumers", "minBlocks", "warps");

  /** Decisions that leave tiles, and what is shared among blocks, as they are. */
  private static final Set<String> DETAILS = Set.of("minBlocks", "ahead");

  private static final Comparator<Candidate> FASTER =
      Comparator.comparingDouble(candidate -> candidate.features().predictedUs());

  private GemmRanking() {}

  /**
   * All that were weighed, each point once.
   *
   * @throws UserError if there is none
   */
  static List<Candidate> of(Space space) {
    SplittableRandom random = new SplittableRandom(1);
    List<Candidate> samples =
        Stream.generate(() -> space.sample(random).candidate())
            .limit(SAMPLES)
            .filter(Objects::nonNull)
            .sorted(FASTER)
            .toList();
    List<Candidate> seen = new ArrayList<>();
    List<Candidate> tops = new ArrayList<>();
    for (Candidate start : samples.subList(0, Math.min(STARTS, samples.size()))) {
      tops.add(climbed(space, start, random, seen));
    }
    Candidate best =
        tops.stream()
            .min(FASTER)
            .orElseThrow(() -> new UserError("no family has a kernel for this GEMM"));
    seen.addAll(samples);
    seen.sort(FASTER);
    Map<Point, Candidate> ranked = new LinkedHashMap<>();
    ranked.put(best.point(), best);
    seen.forEach(candidate -> ranked.putIfAbsent(candidate.point(), candidate));
    return List.copyOf(ranked.values());
  }

  private static Candidate climbed(
      Space space, Candidate start, SplittableRandom random, List<Candidate> seen) {
    Candidate best = start;
    for (int i = 0; i < CLIMBS; i++) {
      Candidate mutant = space.mutate(best.point(), random).candidate();
      if (mutant != null) {
        seen.add(mutant);
        if (FASTER.compare(mutant, best) < 0) {
          best = mutant;
        }
      }
    }
    return best;
  }

  /** What points have in common that differ by tiles, copies and order: often all of them spill. */
  static Point alike(Point point) {
    return new Point(point.choices().stream().filter(c -> OF_A_KIND.contains(c.name())).toList());
  }

  /** What points have in common whose threads' code is nearly the same. */
  static Point kin(Point point) {
    return new Point(
        point.choices().stream().filter(c -> !INDIFFERENT.contains(c.name())).toList());
  }

  /** What points have in common of which the model is wrong alike. */
  static Point tiling(Point point) {
    return new Point(
        kin(point).choices().stream().filter(c -> !DETAILS.contains(c.name())).toList());
  }

  /** The same and the room that they take on an SM. */
  static Point room(Point point) {
    String stages = point.option("stages");
    return stages == null ? kin(point) : kin(point).with("stages", stages);
  }

  /**
   * The order in which choices are tried when the first ones turned out to be useless: those whose
   * tiles are smallest first, of which a thread needs the fewest registers.
   */
  static List<Candidate> smallestFirst(List<Candidate> ranked) {
    return ranked.stream()
        .sorted(Comparator.comparingLong(candidate -> tile(candidate.point())))
        .toList();
  }

  private static long tile(Point point) {
    long elements = 1;
    for (String name : List.of("tileM", "tileN", "rows", "columns", "reads", "minBlocks")) {
      String option = point.option(name);
      elements *= option == null ? 1 : Long.parseLong(option);
    }
    return elements;
  }
}
