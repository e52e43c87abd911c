package dev.warpwright.perf.grid;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a persistent kernel went.
 *
 * @param timeUs from the first item to the last
 * @param spans of the items that were done, in the order in which they ended
 * @param waiting part of the blocks' time that they waited, 0 to 1
 * @param stalled part of the SMs' time in which all of their blocks waited that had an item
 * @param idle part of the SMs' time in which none of their blocks had an item
 * @param dramReadBytes that device memory delivered
 * @param dramWriteBytes that went there
 * @param l2Bytes that SMs asked L2 for
 * @param missedBytes of these, that count as misses
 * @param deadlock who waits for what for ever; null if all was done
 */
public record GridRun(
    double timeUs,
    List<Span> spans,
    double waiting,
    double stalled,
    double idle,
    double dramReadBytes,
    double dramWriteBytes,
    double l2Bytes,
    double missedBytes,
    @Nullable String deadlock) {
  /**
   * One item.
   *
   * @param item its number in the order
   * @param block that did it
   * @param sm on which
   * @param taken when the block came to it, µs
   * @param waited how long it waited from then on, µs; where it waits between its steps, too
   * @param ended when its result was there, µs
   */
  public record Span(int item, int block, int sm, double taken, double waited, double ended) {}

  public GridRun {
    spans = List.copyOf(spans);
  }

  /** Device memory, both ways. */
  public double dramBytes() {
    return dramReadBytes + dramWriteBytes;
  }

  /** The part of the SMs' reads that L2 served. */
  public double hitRate() {
    return Math.clamp(1 - missedBytes / l2Bytes, 0, 1);
  }
}
