package dev.warpwright.sim.memory;

import org.jspecify.annotations.Nullable;

/**
 * Who of the processes that run at once touched each element of a buffer last. Two accesses, one of
 * them a write, race if no pipe and no signal says which comes first.
 */
final class FlowRaces {
  private final int[] writtenTogether;
  private final int[] writer;
  private final int[] writeTick;
  private final int[] readTogether;
  private final int[] @Nullable [] readTicks;

  FlowRaces(int elements) {
    writtenTogether = new int[elements];
    writer = new int[elements];
    writeTick = new int[elements];
    readTogether = new int[elements];
    readTicks = new int[elements][];
  }

  /** Reads; gives the number of a process whose write may come before or behind, or -1. */
  int read(FlowClock reader, int processes, int element) {
    int[] ticks = readTicks[element];
    if (ticks == null || readTogether[element] != reader.together) {
      ticks = new int[processes];
      readTicks[element] = ticks;
      readTogether[element] = reader.together;
    }
    ticks[reader.own] = reader.tick();
    return unknownWriter(reader, element);
  }

  /** Writes; gives the number of a process whose access may come before or behind, or -1. */
  int write(FlowClock by, int element) {
    int unknown = unknownWriter(by, element);
    int[] ticks = readTicks[element];
    if (ticks != null && readTogether[element] == by.together) {
      for (int p = 0; p < ticks.length && unknown < 0; p++) {
        unknown = by.knows(p, ticks[p]) ? -1 : p;
      }
    }
    readTicks[element] = null;
    writtenTogether[element] = by.together;
    writer[element] = by.own;
    writeTick[element] = by.tick();
    return unknown;
  }

  private int unknownWriter(FlowClock by, int element) {
    return writtenTogether[element] != by.together || by.knows(writer[element], writeTick[element])
        ? -1
        : writer[element];
  }
}
