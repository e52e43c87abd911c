package dev.warpwright.tune.search;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Points drawn by chance: what every other strategy is compared with. */
public final class RandomSearch implements Strategy {
  private static final int PATIENCE = 2000;

  private final Space space;
  private final RandomGenerator random;
  private final Proposals proposals;

  /**
   * Makes a search that proposes points at random.
   *
   * @param space to search
   * @param random where decisions come from
   * @param proposals which points were seen; this search's own
   */
  public RandomSearch(Space space, RandomGenerator random, Proposals proposals) {
    this.space = space;
    this.random = random;
    this.proposals = proposals;
  }

  @Override
  public List<Candidate> propose(int count) {
    List<Candidate> next = new ArrayList<>();
    for (int misses = 0; next.size() < count && misses < PATIENCE; ) {
      Candidate candidate = proposals.fresh(space.sample(random));
      if (candidate == null) {
        misses++;
      } else {
        proposals.take(candidate);
        next.add(candidate);
      }
    }
    return next;
  }

  @Override
  public void learn(Candidate candidate, Outcome outcome) {
    proposals.take(candidate);
  }
}
