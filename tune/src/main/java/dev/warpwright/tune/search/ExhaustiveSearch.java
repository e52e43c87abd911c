package dev.warpwright.tune.search;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Everything, in the space's order. */
public final class ExhaustiveSearch implements Strategy {
  private final Deque<Candidate> left = new ArrayDeque<>();
  private final Proposals proposals;

  /**
   * Plans all of a space.
   *
   * @param space to search
   * @param limit how many points to look at, at most
   * @param proposals which points were seen; this search's own
   */
  public ExhaustiveSearch(Space space, long limit, Proposals proposals) {
    this.proposals = proposals;
    space.enumerate(
        limit,
        drawn -> {
          Candidate candidate = proposals.fresh(drawn);
          if (candidate != null) {
            left.add(candidate);
          }
        });
  }

  @Override
  public List<Candidate> propose(int count) {
    List<Candidate> next = new ArrayList<>();
    while (next.size() < count && !left.isEmpty()) {
      Candidate candidate = left.poll();
      proposals.take(candidate);
      next.add(candidate);
    }
    return next;
  }

  @Override
  public void learn(Candidate candidate, Outcome outcome) {
    left.removeIf(c -> c.point().equals(candidate.point()));
  }
}
