package dev.warpwright.tune.search;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * What a kernel could have been with one decision changed: switched off where that is possible, and
 * the nearest other options to either side.
 */
public final class Variants {
  /** Options that mean that something is not done. */
  private static final Set<String> OFF = Set.of("no", "none", "1", "1x1", "row");

  /** Points that are weighed to find the best of another family. */
  private static final int SAMPLES = 1000;

  private final Space space;
  private final Candidate winner;
  private final List<Variant> variants = new ArrayList<>();
  private final Set<Point> seen = new HashSet<>();

  /**
   * One of them.
   *
   * @param decision what was changed
   * @param from the winner's option
   * @param to the other one
   * @param also what had to change with it
   * @param candidate null if there is none
   * @param refusal why there is none
   */
  public record Variant(
      String decision,
      String from,
      String to,
      Map<String, String> also,
      @Nullable Candidate candidate,
      @Nullable String refusal) {}

  private Variants(Space space, Candidate winner) {
    this.space = space;
    this.winner = winner;
    seen.add(winner.point());
  }

  /**
   * All, in the order of the decisions.
   *
   * @param space that the winner was drawn from
   * @param winner whose decisions are changed one at a time
   * @return the variants, decision by decision
   */
  public static List<Variant> of(Space space, Candidate winner) {
    Variants variants = new Variants(space, winner);
    variants
        .options()
        .forEach(
            (decision, options) -> {
              if (decision.equals(Space.SKETCH)) {
                options.forEach(variants::family);
              } else {
                variants.change(decision, options);
              }
            });
    return List.copyOf(variants.variants);
  }

  /** What there was to choose from on the way to the winner. */
  private Map<String, List<String>> options() {
    Map<String, List<String>> asked = new LinkedHashMap<>();
    space.draw(
        (name, options) -> {
          asked.put(name, options);
          return place(winner.point(), name, options);
        });
    return asked;
  }

  private static int place(Point point, String name, List<String> options) {
    String option = point.option(name);
    if (option == null && name.equals("persistent") && point.option("order") != null) {
      // Clusters are persistent without being asked; without them the blocks should stay so.
      return options.indexOf("yes");
    }
    return option == null ? 0 : Math.max(0, options.indexOf(option));
  }

  private void change(String decision, List<String> options) {
    int now = place(winner.point(), decision, options);
    for (int i = 0; i < options.size(); i++) {
      if (i != now && OFF.contains(options.get(i))) {
        nearest(decision, options.get(now), options.subList(i, i + 1));
      }
    }
    nearest(decision, options.get(now), options.subList(0, now).reversed());
    nearest(decision, options.get(now), options.subList(now + 1, options.size()));
  }

  /** Adds the first option that is possible; if none is, why the first one is not. */
  private void nearest(String decision, String from, List<String> options) {
    Variant refused = null;
    for (String to : options) {
      Point point = winner.point().with(decision, to);
      Space.Drawn drawn = space.draw((name, all) -> place(point, name, all));
      if (drawn.candidate() != null) {
        if (seen.add(drawn.point())) {
          variants.add(
              new Variant(
                  decision, from, to, also(decision, drawn.point()), drawn.candidate(), null));
        }
        return;
      }
      if (refused == null && drawn.rejection() != null && seen.add(drawn.point())) {
        String why = String.valueOf(drawn.rejection().getMessage());
        refused = new Variant(decision, from, to, Map.of(), null, why);
      }
    }
    if (refused != null) {
      variants.add(refused);
    }
  }

  /** The best of another family, as the analytic model sees it. */
  private void family(String name) {
    String from = String.valueOf(winner.point().option(Space.SKETCH));
    if (name.equals(from)) {
      return;
    }
    SplittableRandom random = new SplittableRandom(1);
    Candidate best = null;
    for (int i = 0; i < SAMPLES; i++) {
      Candidate candidate =
          space
              .draw(
                  (decision, options) ->
                      decision.equals(Space.SKETCH)
                          ? options.indexOf(name)
                          : random.nextInt(options.size()))
              .candidate();
      if (candidate != null
          && (best == null || candidate.features().predictedUs() < best.features().predictedUs())) {
        best = candidate;
      }
    }
    variants.add(
        new Variant(
            Space.SKETCH,
            from,
            name,
            best == null ? Map.of() : also(Space.SKETCH, best.point()),
            best,
            best == null ? "none of " + SAMPLES + " points is possible" : null));
  }

  private Map<String, String> also(String decision, Point point) {
    Map<String, String> also = new LinkedHashMap<>();
    for (Point.Choice choice : point.choices()) {
      String before = winner.point().option(choice.name());
      if (!choice.name().equals(decision) && !choice.option().equals(before)) {
        also.put(choice.name(), choice.option());
      }
    }
    for (Point.Choice choice : winner.point().choices()) {
      if (!choice.name().equals(decision) && point.option(choice.name()) == null) {
        also.put(choice.name(), "");
      }
    }
    return also;
  }
}
