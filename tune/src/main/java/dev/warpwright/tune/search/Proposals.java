package dev.warpwright.tune.search;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import java.util.HashSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Which points were seen, and why points were rejected. */
public final class Proposals {
  /** Nothing seen yet. */
  public Proposals() {}

  private final Set<Point> proposed = new HashSet<>();
  private final Set<Point> refused = new HashSet<>();
  private final SortedMap<String, Integer> rejections = new TreeMap<>();

  /** The candidate, or null if it was rejected or proposed before. */
  @Nullable Candidate fresh(Space.Drawn drawn) {
    if (drawn.rejection() != null) {
      if (refused.add(drawn.point())) {
        rejections.merge(drawn.rejection().reason(), 1, Integer::sum);
      }
      return null;
    }
    return proposed.contains(drawn.point()) ? null : drawn.candidate();
  }

  /** Remembers that it is being measured. */
  void take(Candidate candidate) {
    proposed.add(candidate.point());
  }

  /** {@return how many different points were rejected, by reason} */
  public SortedMap<String, Integer> rejections() {
    return new TreeMap<>(rejections);
  }
}
