package dev.warpwright.space;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * All candidates for a workload: one or more sketches, the choice of which is the first decision.
 */
public final class Space {
  /** Name of the first decision. */
  public static final String SKETCH = "sketch";

  private final List<Sketch> sketches;
  private final List<String> names;

  /**
   * Makes a space.
   *
   * @param sketches at least one, with different names
   */
  public Space(List<Sketch> sketches) {
    this.sketches = List.copyOf(sketches);
    this.names = this.sketches.stream().map(Sketch::name).toList();
    if (names.isEmpty() || new HashSet<>(names).size() != names.size()) {
      throw new IllegalArgumentException("sketches of a space: " + names);
    }
  }

  /**
   * What came of asking a sketch.
   *
   * @param point what was decided up to the end, or up to the rejection
   * @param candidate null if rejected
   * @param rejection null if not rejected
   */
  public record Drawn(Point point, @Nullable Candidate candidate, @Nullable Rejected rejection) {}

  /**
   * Plans what the decisions say.
   *
   * @param decisions answer what the sketches ask
   * @return the point, with its candidate or why there is none
   */
  public Drawn draw(Decisions decisions) {
    List<Point.Choice> choices = new ArrayList<>();
    Set<String> asked = new HashSet<>();
    Decisions recorded =
        (name, options) -> {
          if (options.isEmpty() || !asked.add(name)) {
            throw new IllegalStateException(
                options.isEmpty() ? name + " has no options" : name + " is asked twice");
          }
          int place = decisions.pick(name, options);
          choices.add(new Point.Choice(name, options.get(place)));
          return place;
        };
    try {
      Sketch sketch = sketches.get(recorded.pick(SKETCH, names));
      Sketch.Plan plan = sketch.plan(recorded);
      Point point = new Point(choices);
      return new Drawn(
          point, new Candidate(point, plan.features(), plan.kernel(), plan.values()), null);
    } catch (Rejected rejected) {
      return new Drawn(new Point(choices), null, rejected);
    }
  }

  /**
   * {@return a random candidate}
   *
   * @param random where answers come from
   */
  public Drawn sample(RandomGenerator random) {
    return draw(random(random));
  }

  /**
   * {@return the candidate of a point; where its answers are missing or no option, the first
   * option}
   *
   * @param point of this space or another
   */
  public Drawn replay(Point point) {
    return draw(replay(point, (name, options) -> 0));
  }

  /**
   * {@return whether a point answers each question of its candidate, with an option that there is}
   *
   * @param point of this space or another
   */
  public boolean fits(Point point) {
    Drawn drawn = replay(point);
    return drawn.candidate() != null && drawn.point().equals(point);
  }

  /**
   * {@return the same point but for one decision; what depended on it is decided anew where it must
   * be}
   *
   * @param point of this space, not empty
   * @param random chooses the decision and its new answer
   */
  public Drawn mutate(Point point, RandomGenerator random) {
    int victim = random.nextInt(point.choices().size());
    Point.Choice changed = point.choices().get(victim);
    Decisions other = random(random);
    return draw(
        replay(
            point.without(changed.name()),
            (name, options) -> {
              if (!name.equals(changed.name()) || options.size() == 1) {
                return other.pick(name, options);
              }
              int now = options.indexOf(changed.option());
              if (now < 0) {
                return other.pick(name, options);
              }
              int place = random.nextInt(options.size() - 1);
              return place < now ? place : place + 1;
            }));
  }

  /**
   * {@return a point whose decisions are each one of two parents'}
   *
   * @param mother of this space
   * @param father of this space
   * @param random chooses whose
   */
  public Drawn cross(Point mother, Point father, RandomGenerator random) {
    Decisions other = random(random);
    return draw(
        (name, options) -> {
          boolean first = random.nextBoolean();
          int place = place(first ? mother : father, name, options);
          if (place < 0) {
            place = place(first ? father : mother, name, options);
          }
          return place < 0 ? other.pick(name, options) : place;
        });
  }

  /**
   * Goes through all points, in a fixed order.
   *
   * @param limit at most so many
   * @param consumer is given each
   * @return whether these were all
   */
  public boolean enumerate(long limit, Consumer<Drawn> consumer) {
    List<int[]> path = new ArrayList<>();
    for (long n = 0; n < limit; n++) {
      int[] depth = {0};
      Drawn drawn =
          draw(
              (name, options) -> {
                if (depth[0] == path.size()) {
                  path.add(new int[] {0, options.size()});
                }
                return path.get(depth[0]++)[0];
              });
      consumer.accept(drawn);
      while (!path.isEmpty() && path.getLast()[0] + 1 == path.getLast()[1]) {
        path.removeLast();
      }
      if (path.isEmpty()) {
        return true;
      }
      path.getLast()[0]++;
    }
    return false;
  }

  private static Decisions random(RandomGenerator random) {
    return (name, options) -> random.nextInt(options.size());
  }

  private static Decisions replay(Point point, Decisions otherwise) {
    return (name, options) -> {
      int place = place(point, name, options);
      return place < 0 ? otherwise.pick(name, options) : place;
    };
  }

  private static int place(Point point, String name, List<String> options) {
    String option = point.option(name);
    return option == null ? -1 : options.indexOf(option);
  }
}
