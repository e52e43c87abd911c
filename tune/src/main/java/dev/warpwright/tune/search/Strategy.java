package dev.warpwright.tune.search;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.record.Outcome;
import java.util.List;

/** Decides what to try next. Not thread safe. */
public interface Strategy {
  /**
   * {@return candidates to measure, the most promising first; fewer than asked for, even none, if
   * there is nothing new} A candidate is proposed once.
   *
   * @param count how many are wanted
   */
  List<Candidate> propose(int count);

  /**
   * Tells what became of a candidate, proposed or known from earlier.
   *
   * @param candidate proposed or known from earlier
   * @param outcome its time, or why it has none
   */
  void learn(Candidate candidate, Outcome outcome);
}
