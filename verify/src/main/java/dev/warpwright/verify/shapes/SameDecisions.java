package dev.warpwright.verify.shapes;

import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The decisions of a point, asked for a smaller GEMM. A space offers parts of K only where they are
 * long enough to be fast; here they only have to be right, and may be shorter.
 */
final class SameDecisions implements Decisions {
  /** Blocks in residence, where clusters are large: the first option is all that there is. */
  private static final String RESIDENCE = "resident";

  /** Decisions about grids: a smaller one has fewer options, the last of which is most alike. */
  private static final Set<String> OF_GRIDS = Set.of("order", "panel", RESIDENCE);

  private static final String DIVISION = "division";
  private static final Set<String> OF_PARTS = Set.of(DIVISION, "parts");

  private final Point point;
  private final Set<String> same = new HashSet<>();

  SameDecisions(Point point) {
    this.point = point;
  }

  @Override
  public int pick(String name, List<String> options) {
    String option = point.option(name);
    int place = option == null ? 0 : options.indexOf(option);
    if (place >= 0) {
      same.add(name);
      return place;
    }
    return OF_GRIDS.contains(name) && !name.equals(RESIDENCE) ? options.size() - 1 : 0;
  }

  @Override
  public String choose(String name, List<String> options) {
    String division = divided(name);
    return division == null ? options.get(pick(name, options)) : division;
  }

  @Override
  public long choose(String name, long... options) {
    String parts = divided(name);
    return parts == null ? Decisions.super.choose(name, options) : Long.parseLong(parts);
  }

  /** How the point divides K, whether that is among the options or not; null for other names. */
  private @Nullable String divided(String name) {
    String option = OF_PARTS.contains(name) ? point.option(name) : null;
    if (option != null) {
      same.add(name);
    }
    return option;
  }

  /** Whether all decisions were as the point's, but for those about the grid. */
  boolean areSame() {
    return point.choices().stream().allMatch(this::isSame);
  }

  private boolean isSame(Point.Choice choice) {
    return switch (choice.name()) {
      // Not asked where there is nothing else.
      case DIVISION ->
          same.contains(DIVISION) || choice.option().equals(new WorkDivision.Whole().text());
      case Space.SKETCH -> true;
      default -> same.contains(choice.name()) || OF_GRIDS.contains(choice.name());
    };
  }
}
