package dev.warpwright.measure.timing;

import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaEvent;
import dev.warpwright.runtime.cuda.CudaGraph;
import dev.warpwright.runtime.cuda.CudaStream;
import java.util.function.IntConsumer;

/**
 * Launches of one kernel back to back in a graph that goes through all sets of inputs equally
 * often, to be replayed and timed. Tuning and the comparison with baselines both time by it.
 */
public final class TimedGraph implements AutoCloseable {
  private static final int MAX_LAUNCHES = 4096;

  private final CudaStream stream;
  private final CudaGraph graph;
  private final int launches;
  private final CudaEvent start;
  private final CudaEvent end;

  private TimedGraph(
      CudaStream stream, CudaGraph graph, int launches, CudaEvent start, CudaEvent end) {
    this.stream = stream;
    this.graph = graph;
    this.launches = launches;
    this.start = start;
    this.end = end;
  }

  /**
   * Uses every set once, and captures.
   *
   * @param enqueue gives the work on a set to the stream, without waiting
   * @param wantedUs how long a replay should take, in microseconds; it takes longer if one launch
   *     for each set does
   */
  public static TimedGraph capture(
      CudaContext context, CudaStream stream, int sets, IntConsumer enqueue, double wantedUs) {
    CudaEvent start = context.newEvent();
    CudaEvent end = context.newEvent();
    try {
      for (int set = 0; set < sets; set++) {
        enqueue.accept(set);
      }
      start.record(stream);
      enqueue.accept(0);
      end.record(stream);
      end.synchronize();
      int launches = launches(end.millisSince(start) * 1e3, sets, wantedUs);
      CudaGraph graph =
          CudaGraph.capture(
              stream,
              () -> {
                for (int i = 0; i < launches; i++) {
                  enqueue.accept(i % sets);
                }
              });
      return new TimedGraph(stream, graph, launches, start, end);
    } catch (RuntimeException e) {
      start.close();
      end.close();
      throw e;
    }
  }

  /** So many launches that they take as long as wanted; each set equally often. */
  static int launches(double micros, int sets, double wantedUs) {
    int rotations = (int) Math.ceil(wantedUs / Math.max(micros, 0.5) / sets);
    return Math.clamp(rotations, 1, Math.max(1, MAX_LAUNCHES / sets)) * sets;
  }

  /** Replays, waits, and tells the microseconds of a launch. */
  public double replay() {
    start.record(stream);
    graph.replay(stream);
    end.record(stream);
    end.synchronize();
    return end.millisSince(start) * 1e3 / launches;
  }

  /** Replays for so many microseconds at least, so that clocks are those of a busy device. */
  public void warm(double us) {
    for (double done = 0; done < us; ) {
      done += Math.max(replay() * launches, 1);
    }
  }

  @Override
  public void close() {
    graph.close();
    start.close();
    end.close();
  }
}
