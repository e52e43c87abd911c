package dev.warpwright.measure.network;

import dev.warpwright.base.DeviceError;
import dev.warpwright.measure.timing.Quantiles;
import dev.warpwright.measure.timing.TimingOrder;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaEvent;
import dev.warpwright.runtime.cuda.CudaGraph;
import dev.warpwright.runtime.cuda.CudaStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Times programs in turn by graphs of twelve launches, which together go through all sets: bursts
 * after a rest, each round in another order, then each without rest.
 */
final class BurstTimer implements AutoCloseable {
  private static final int LAUNCHES = 12;

  /** A burst, the rest before it, and how long a device is busy before it counts as warm. */
  private static final double BURST_US = 8_000;

  private static final long REST_MS = 40;
  private static final double WARM_US = 900_000;
  private static final double SUSTAINED_US = 600_000;

  private final CudaStream stream;
  private final CudaEvent start;
  private final CudaEvent end;
  private final List<Graphs> all = new ArrayList<>();

  /** The graphs of a program. */
  private final class Graphs {
    final List<CudaGraph> graphs = new ArrayList<>();
    int next;
    int burst;

    Graphs(IntConsumer enqueue, int sets) {
      int count = Math.max(1, Math.ceilDiv(sets, LAUNCHES));
      for (int g = 0; g < count; g++) {
        int first = g * LAUNCHES;
        graphs.add(
            CudaGraph.capture(
                stream,
                () -> {
                  for (int i = 0; i < LAUNCHES; i++) {
                    enqueue.accept((first + i) % sets);
                  }
                }));
      }
      run(1);
      double micros = Math.min(run(2), run(2));
      burst = (int) Math.clamp(BURST_US / (micros * LAUNCHES), 1, 1_000_000);
    }

    /** So many graphs, one after the other; microseconds of a launch. */
    double run(int count) {
      start.record(stream);
      for (int i = 0; i < count; i++) {
        graphs.get(next++ % graphs.size()).replay(stream);
      }
      end.record(stream);
      end.synchronize();
      return end.millisSince(start) * 1e3 / ((double) count * LAUNCHES);
    }

    void close() {
      graphs.forEach(CudaGraph::close);
    }
  }

  BurstTimer(CudaContext context, CudaStream stream) {
    this.stream = stream;
    this.start = context.newEvent();
    this.end = context.newEvent();
  }

  /**
   * Captures a program; its place among the others.
   *
   * @param enqueue gives the work on a set to the stream, without waiting
   */
  int add(IntConsumer enqueue, int sets) {
    all.add(new Graphs(enqueue, sets));
    return all.size() - 1;
  }

  /** The bursts of all programs. */
  List<Quantiles> bursts(int rounds) {
    double[][] micros = new double[all.size()][rounds];
    for (int round = -1; round < rounds; round++) {
      for (int c : TimingOrder.of(round + 1, all.size())) {
        rest();
        double time = all.get(c).run(all.get(c).burst);
        if (round >= 0) {
          micros[c][round] = time;
        }
      }
    }
    return Arrays.stream(micros).map(Quantiles::of).toList();
  }

  /** The median of bursts without rest between them, behind others. */
  double sustained(int place) {
    Graphs graphs = all.get(place);
    int count = 4 * graphs.burst;
    for (double done = 0; done < WARM_US; ) {
      done += Math.max(1, graphs.run(count) * count * LAUNCHES);
    }
    List<Double> micros = new ArrayList<>();
    for (double done = 0; done < SUSTAINED_US; ) {
      double time = graphs.run(count);
      micros.add(time);
      done += Math.max(1, time * count * LAUNCHES);
    }
    return Quantiles.of(micros.stream().mapToDouble(Double::doubleValue).toArray()).median();
  }

  /** Replays what goes through all sets once. */
  void once(int place) {
    all.get(place).run(all.get(place).graphs.size());
  }

  private static void rest() {
    try {
      Thread.sleep(REST_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted while kernels were measured");
    }
  }

  @Override
  public void close() {
    all.forEach(Graphs::close);
    start.close();
    end.close();
  }
}
