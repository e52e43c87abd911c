package dev.warpwright.families;

import dev.warpwright.ir.order.WorkDivision;
import java.util.ArrayList;
import java.util.List;

/** Ways to divide tiles among workers that may be worth their while. */
public final class Divisions {
  private static final int[] PARTS = {2, 3, 4, 5, 6, 8, 12, 16};

  /** Steps of a part, below which its beginning and its end cost more than they save. */
  private static final int LEAST_STEPS = 4;

  private Divisions() {}

  /**
   * Words of {@link WorkDivision}, the first of which is that tiles are whole.
   *
   * @param tiles of a cluster
   * @param steps of a tile
   * @param workers clusters that run at the same time
   */
  public static List<String> of(long tiles, long steps, long workers) {
    List<String> divisions = new ArrayList<>(List.of(new WorkDivision.Whole().text()));
    for (int parts : PARTS) {
      if (tiles * parts <= 2 * workers && steps >= (long) LEAST_STEPS * parts) {
        divisions.add(new WorkDivision.Parts(parts).text());
      }
    }
    boolean shortTail = tiles % workers != 0;
    boolean enough = tiles * steps >= LEAST_STEPS * workers;
    if (shortTail && enough) {
      divisions.add(new WorkDivision.Stream(0).text());
      if (tiles > workers) {
        divisions.add(new WorkDivision.Stream(1).text());
      }
    }
    return divisions;
  }
}
