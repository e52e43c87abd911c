package dev.warpwright.measure.orders;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Which SM computed what, and when.
 *
 * @param unit of the times
 * @param events in the order in which they began
 */
public record Timeline(Unit unit, List<Event> events) {
  /** What times are counted in. */
  public enum Unit {
    /** Nanoseconds of the GPU's timer. */
    NS,
    /** Turns of the simulator, in which a warp goes on until it waits. */
    TURNS;

    /** The word that {@link #parse} reads. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Reads {@code ns} or {@code turns}.
     *
     * @throws IllegalArgumentException if it is neither
     */
    public static Unit parse(String text) {
      return valueOf(text.toUpperCase(Locale.ROOT));
    }
  }

  /**
   * A block's part of a work item.
   *
   * @param item its place in the order
   * @param block number of the block
   * @param sm number of the SM
   * @param begin from the first begin of all on
   * @param end on the same scale
   */
  public record Event(int item, int block, int sm, long begin, long end) {}

  public Timeline {
    events = List.copyOf(events);
  }

  /**
   * A timeline of what a {@link dev.warpwright.measure.timing.TimelineProbe} recorded: rows of
   * block, SM, begin and end.
   *
   * @param perItem rows for each work item: the blocks of a cluster
   * @throws IllegalStateException if a row is missing or impossible
   */
  public static Timeline of(Unit unit, long[] records, int perItem) {
    List<Event> events = new ArrayList<>();
    long first = Long.MAX_VALUE;
    for (int row = 0; row < records.length / 4; row++) {
      first = Math.min(first, records[4 * row + 2]);
    }
    for (int row = 0; row < records.length / 4; row++) {
      long begin = records[4 * row + 2] - first;
      long end = records[4 * row + 3] - first;
      if (records[4 * row] < 0 || records[4 * row + 1] < 0 || begin < 0 || end < begin) {
        throw new IllegalStateException(
            String.format(Locale.ROOT, "work item %d was not recorded, or wrongly", row / perItem));
      }
      events.add(
          new Event(
              row / perItem,
              Math.toIntExact(records[4 * row]),
              Math.toIntExact(records[4 * row + 1]),
              begin,
              end));
    }
    events.sort(Comparator.comparingLong(Event::begin).thenComparingInt(Event::item));
    return new Timeline(unit, events);
  }

  /** When the last work item ends. */
  public long end() {
    return events.stream().mapToLong(Event::end).max().orElse(0);
  }

  /** How many SMs took part. */
  public int sms() {
    return (int) events.stream().mapToInt(Event::sm).distinct().count();
  }

  /**
   * The part of the time of the SMs that took part in which none of their work items is computed, 0
   * to 1.
   */
  public double idle() {
    long[] until = new long[1 + events.stream().mapToInt(Event::sm).max().orElse(0)];
    long busy = 0;
    for (Event event : events) {
      int at = event.sm();
      busy += Math.max(0, event.end() - Math.max(event.begin(), until[at]));
      until[at] = Math.max(until[at], event.end());
    }
    double all = (double) end() * sms();
    return all == 0 ? 0 : 1 - busy / all;
  }

  /** How many work items began before one that comes earlier in the order. */
  public long overtaken() {
    int latest = -1;
    long count = 0;
    for (Event event : events) {
      if (event.item() < latest) {
        count++;
      }
      latest = Math.max(latest, event.item());
    }
    return count;
  }
}
