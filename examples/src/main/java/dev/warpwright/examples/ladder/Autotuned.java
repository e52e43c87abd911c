package dev.warpwright.examples.ladder;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.schedule.Schedule;
import java.util.List;
import java.util.Locale;

/** The same schedule with the sizes that a search found best. */
final class Autotuned implements Rung {
  /** What the search chooses from. */
  static final List<Square> CANDIDATES =
      List.of(
          new Square(128, 128, 8, 2, 2, true),
          new Square(128, 128, 16, 2, 2, true),
          new Square(64, 128, 16, 2, 2, true),
          new Square(128, 64, 16, 2, 2, true),
          new Square(64, 64, 16, 1, 2, true),
          new Square(64, 64, 16, 2, 2, true),
          new Square(128, 128, 8, 4, 2, true),
          new Square(128, 128, 16, 4, 2, true),
          new Square(128, 128, 8, 2, 4, true),
          new Square(256, 128, 8, 4, 2, true));

  /** The fastest of them at 4096³ on an H200; docs/ladder.md has the figures of all. */
  static final Square CHOSEN = CANDIDATES.get(2);

  /** All that the search chooses from, a rung each; the one that it has chosen says so. */
  static List<Rung> candidates() {
    return CANDIDATES.stream().<Rung>map(Candidate::new).toList();
  }

  /** The schedule with sizes of which one was chosen. */
  private record Candidate(Square square) implements Rung {
    @Override
    public String name() {
      return String.format(
          Locale.ROOT,
          "%dx%dx%d-%dx%d%s",
          square.m(),
          square.n(),
          square.k(),
          square.groupsM(),
          square.groupsN(),
          square.equals(CHOSEN) ? "-chosen" : "");
    }

    @Override
    public String change() {
      return "a block's tile, and groups of rows and columns of a thread";
    }

    @Override
    public Schedule schedule(PrimFunc matmul) {
      return Autotuned.schedule(matmul, square);
    }
  }

  @Override
  public String name() {
    return "autotuned";
  }

  @Override
  public String change() {
    return "sizes of tiles and of a thread's part found by search";
  }

  @Override
  public Schedule schedule(PrimFunc matmul) {
    return schedule(matmul, CHOSEN);
  }

  static Schedule schedule(PrimFunc matmul, Square square) {
    Schedule s = new Schedule(matmul);
    Vectorized.build(s, square);
    s.storageAlign(s.buffer("A_shared"), 0, 32, 4);
    return s;
  }
}
