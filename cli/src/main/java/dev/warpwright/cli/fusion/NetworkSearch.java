package dev.warpwright.cli.fusion;

import dev.warpwright.compiler.program.NetworkRecords;
import dev.warpwright.tune.space.Point;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * In which order alternatives are tried: first those that are presumably the fastest, then in turn
 * what differs least from the fastest so far and what lies furthest from all that was tried. If
 * there is time, all of them.
 */
final class NetworkSearch {
  /** So many are taken on trust. */
  private static final int FIRST = 4;

  private final List<String> names;
  private final Map<String, Point> points = new HashMap<>();
  private final Set<String> tried = new HashSet<>();
  private @Nullable String best;
  private double bestUs = Double.POSITIVE_INFINITY;

  /**
   * Of these.
   *
   * @param names the presumably fastest first
   */
  NetworkSearch(List<String> names) {
    this.names = List.copyOf(names);
    this.names.forEach(name -> points.put(name, NetworkRecords.point(name)));
  }

  /** What came of one; a time that is not a number for one that has none. */
  void learn(String name, double micros) {
    tried.add(name);
    if (micros < bestUs) {
      best = name;
      bestUs = micros;
    }
  }

  /** The next one to try, which is never given again; null if all were. */
  @Nullable String next() {
    List<String> left = new ArrayList<>(names);
    left.removeAll(tried);
    if (left.isEmpty()) {
      return null;
    }
    String next =
        tried.size() < FIRST || best == null
            ? left.getFirst()
            : tried.size() % 2 == 0 ? nearest(left, best) : furthest(left);
    tried.add(next);
    return next;
  }

  private String nearest(List<String> left, String from) {
    String nearest = left.getFirst();
    for (String name : left) {
      if (distance(name, from) < distance(nearest, from)) {
        nearest = name;
      }
    }
    return nearest;
  }

  /** By place in the list: what is presumed of neighbours in it is nearly the same. */
  private String furthest(List<String> left) {
    String furthest = left.getFirst();
    int most = -1;
    for (String name : left) {
      int place = names.indexOf(name);
      int gap = names.size();
      for (String other : tried) {
        gap = Math.min(gap, Math.abs(names.indexOf(other) - place));
      }
      if (gap > most) {
        most = gap;
        furthest = name;
      }
    }
    return furthest;
  }

  /** How many choices differ. */
  private int distance(String a, String b) {
    Set<Point.Choice> all = new HashSet<>(points.getOrDefault(a, Point.EMPTY).choices());
    Set<Point.Choice> others = new HashSet<>(points.getOrDefault(b, Point.EMPTY).choices());
    Set<Point.Choice> same = new HashSet<>(all);
    same.retainAll(others);
    all.addAll(others);
    return all.size() - same.size();
  }
}
