package dev.warpwright.tune.search;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Evolution with a cost model: many descendants of the best are planned, by mutation and crossover,
 * and strangers with them; those that the model thinks fast are measured, and a few by chance, so
 * that the model also sees what it does not believe in.
 */
public final class EvolutionarySearch implements Strategy {
  private static final int POPULATION = 384;
  private static final int PARENTS = 24;
  private static final double CHANCE = 0.12;

  private final Space space;
  private final CostModel model;
  private final RandomGenerator random;
  private final Proposals proposals;
  private final Deque<Point> seeds;
  private final List<CostModel.Sample> samples = new ArrayList<>();
  private final Map<Point, Double> measured = new HashMap<>();
  private boolean stale;

  /**
   * Makes a search.
   *
   * @param space to search
   * @param model orders candidates before they are measured
   * @param seeds points to try first: what was good for similar workloads
   * @param random where decisions come from
   * @param proposals which points were seen; this search's own
   */
  public EvolutionarySearch(
      Space space,
      CostModel model,
      List<Point> seeds,
      RandomGenerator random,
      Proposals proposals) {
    this.space = space;
    this.model = model;
    this.seeds = new ArrayDeque<>(seeds);
    this.random = random;
    this.proposals = proposals;
  }

  @Override
  public List<Candidate> propose(int count) {
    List<Candidate> next = new ArrayList<>();
    // Of many searches each is asked for one trial at first: the other seeds are for the next time.
    while (next.size() < count && !seeds.isEmpty()) {
      Candidate candidate = proposals.fresh(space.replay(seeds.remove()));
      if (candidate != null) {
        proposals.take(candidate);
        next.add(candidate);
      }
    }
    if (next.size() == count) {
      return next;
    }
    if (stale) {
      model.fit(samples);
      stale = false;
    }
    List<Candidate> population = population();
    double[] times = model.predict(population.stream().map(Candidate::features).toList());
    List<Integer> ranking = new ArrayList<>();
    for (int i = 0; i < times.length; i++) {
      ranking.add(i);
    }
    ranking.sort(Comparator.comparingDouble(i -> times[i]));
    while (next.size() < count && !ranking.isEmpty()) {
      boolean gamble = random.nextDouble() < CHANCE;
      Candidate candidate =
          population.get(ranking.remove(gamble ? random.nextInt(ranking.size()) : 0));
      proposals.take(candidate);
      next.add(candidate);
    }
    return next;
  }

  private List<Candidate> population() {
    List<Point> parents =
        measured.entrySet().stream()
            .sorted(Map.Entry.comparingByValue())
            .limit(PARENTS)
            .map(Map.Entry::getKey)
            .toList();
    List<Candidate> population = new ArrayList<>();
    Set<Point> here = new HashSet<>();
    for (int i = 0; i < POPULATION; i++) {
      Candidate candidate = proposals.fresh(descendant(parents));
      if (candidate != null && here.add(candidate.point())) {
        population.add(candidate);
      }
    }
    return population;
  }

  private Space.Drawn descendant(List<Point> parents) {
    double kind = random.nextDouble();
    if (parents.isEmpty() || kind < 0.3) {
      return space.sample(random);
    }
    Point parent = parents.get(favoured(parents.size()));
    if (kind < 0.8 || parents.size() < 2) {
      Space.Drawn mutant = space.mutate(parent, random);
      return random.nextBoolean() ? mutant : space.mutate(mutant.point(), random);
    }
    return space.cross(parent, parents.get(random.nextInt(parents.size())), random);
  }

  /** The better one of two. */
  private int favoured(int count) {
    return Math.min(random.nextInt(count), random.nextInt(count));
  }

  @Override
  public void learn(Candidate candidate, Outcome outcome) {
    proposals.take(candidate);
    switch (outcome) {
      case Outcome.Measured m -> {
        samples.add(new CostModel.Sample(candidate.features(), m.timeUs()));
        measured.merge(candidate.point(), m.timeUs(), Math::min);
        stale = true;
      }
      // What fails is not slow: the model learns nothing from it, and nobody descends from it.
      case Outcome.Failed _ -> {}
    }
  }
}
