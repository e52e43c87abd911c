package dev.warpwright.cli.run;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;

/** Whether times of one thing, measured again and again, have stopped changing. */
final class SteadyTime {
  private static final int ROUNDS = 4;
  private static final double SPREAD = 1.2;

  private final Deque<Double> last = new ArrayDeque<>();

  void add(double micros) {
    last.addLast(micros);
    if (last.size() > ROUNDS) {
      last.removeFirst();
    }
  }

  /** Whether the last four are within 20 % of each other. */
  boolean reached() {
    return last.size() == ROUNDS && Collections.max(last) <= SPREAD * Collections.min(last);
  }
}
