package dev.warpwright.cli.fusion;

import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.space.Point;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * In which order alternatives are tried: first of each kind the one that is presumably the fastest,
 * then in turn what has the least known choices and what should be fastest if each choice costs or
 * saves a factor of its own. If there is time, all of them.
 */
final class NetworkSearch {
  /** From here on only every fourth is tried for what it tells. */
  private static final int EXPLORED = 16;

  /** What a choice that was never tried may save. */
  private static final double HOPE = 0.02;

  /** Of a choice that was tried once, this part of what it seems to cost is believed. */
  private static final double TRUST = 0.5;

  private static final int SWEEPS = 10;

  private final Map<String, List<Point.Choice>> left = new LinkedHashMap<>();
  private final Map<String, List<Point.Choice>> all = new LinkedHashMap<>();
  private final Map<Point.Choice, Integer> counts = new HashMap<>();
  private final Map<String, Double> logs = new LinkedHashMap<>();
  private final Deque<String> first = new ArrayDeque<>();
  private int given;

  /**
   * Of these.
   *
   * @param names of each kind the presumably fastest first
   */
  NetworkSearch(List<String> names) {
    for (String name : names) {
      List<Point.Choice> choices = NetworkRecords.point(name).choices();
      all.put(name, choices);
      left.put(name, choices);
    }
    Set<List<String>> kinds = new HashSet<>();
    all.forEach(
        (name, choices) -> {
          if (kinds.add(kind(choices))) {
            first.add(name);
          }
        });
  }

  /** The strategy, and what its first choice is about: warpgroups or warps. */
  private static List<String> kind(List<Point.Choice> choices) {
    return List.of(choices.getFirst().option(), choices.size() > 1 ? choices.get(1).name() : "");
  }

  /** What came of one; a time that is not a number for one that has none. */
  void learn(String name, double micros) {
    take(name);
    if (micros > 0) {
      logs.put(name, Math.log(micros));
    }
  }

  private void take(String name) {
    List<Point.Choice> choices = left.remove(name);
    if (choices != null) {
      given++;
      choices.forEach(choice -> counts.merge(choice, 1, Integer::sum));
    }
  }

  /** The next one to try, which is never given again; null if all were. */
  @Nullable String next() {
    if (left.isEmpty()) {
      return null;
    }
    while (!first.isEmpty() && !left.containsKey(first.getFirst())) {
      first.removeFirst();
    }
    boolean explore = given < EXPLORED ? given % 2 == 0 : given % 4 == 0;
    String next =
        !first.isEmpty()
            ? first.getFirst()
            : logs.isEmpty()
                ? left.keySet().iterator().next()
                : explore ? leastKnown() : presumablyFastest();
    take(next);
    return next;
  }

  private String leastKnown() {
    String best = "";
    double most = -1;
    for (Map.Entry<String, List<Point.Choice>> entry : left.entrySet()) {
      double news = 0;
      for (Point.Choice choice : entry.getValue()) {
        news += 1.0 / (1 + counts.getOrDefault(choice, 0));
      }
      if (news > most) {
        most = news;
        best = entry.getKey();
      }
    }
    return best;
  }

  private String presumablyFastest() {
    Map<Point.Choice, Double> costs = costs();
    String best = "";
    double least = Double.POSITIVE_INFINITY;
    for (Map.Entry<String, List<Point.Choice>> entry : left.entrySet()) {
      double cost = 0;
      for (Point.Choice choice : entry.getValue()) {
        cost += costs.getOrDefault(choice, -HOPE);
      }
      if (cost < least) {
        least = cost;
        best = entry.getKey();
      }
    }
    return best;
  }

  /** What each choice adds to the logarithm of the time, beside the others. */
  private Map<Point.Choice, Double> costs() {
    double mean = logs.values().stream().mapToDouble(Double::doubleValue).average().orElse(0);
    Map<Point.Choice, Double> costs = new HashMap<>();
    Map<Point.Choice, List<String>> users = new LinkedHashMap<>();
    for (String name : logs.keySet()) {
      for (Point.Choice choice : all.getOrDefault(name, List.of())) {
        users.computeIfAbsent(choice, c -> new ArrayList<>()).add(name);
      }
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
      users.forEach(
          (choice, names) -> {
            double rest = 0;
            for (String name : names) {
              double other = logs.getOrDefault(name, mean) - mean;
              for (Point.Choice its : all.getOrDefault(name, List.of())) {
                other -= its.equals(choice) ? 0 : costs.getOrDefault(its, 0.0);
              }
              rest += other;
            }
            costs.put(choice, rest / (names.size() + TRUST));
          });
    }
    return costs;
  }
}
