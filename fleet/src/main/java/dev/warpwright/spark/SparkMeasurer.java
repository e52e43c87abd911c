package dev.warpwright.spark;

import dev.warpwright.space.Candidate;
import dev.warpwright.tune.fleet.Fleet;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.WorkloadKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Gathers candidates of a workload into tasks. Two are under way at a time, so that a device has
 * work while the search thinks; what is short of a whole task waits for those, and where there are
 * none for a moment.
 */
final class SparkMeasurer implements Measurer {
  private static final int UNDER_WAY = 2;
  private static final long MOMENT_MILLIS = 20;
  private static final AtomicLong IDS = new AtomicLong();

  private final SparkFleet fleet;
  private final Fleet.Kind kind;
  private final WorkloadKey workload;
  private final boolean free;
  private final int size;
  private final List<Pending> pending = new ArrayList<>();
  private int underWay;
  private boolean closed;

  private record Pending(Candidate candidate, CompletableFuture<Trial> promise) {}

  SparkMeasurer(SparkFleet fleet, Fleet.Kind kind, WorkloadKey workload, boolean free, int size) {
    this.fleet = fleet;
    this.kind = kind;
    this.workload = workload;
    this.free = free;
    this.size = size;
  }

  @Override
  public synchronized CompletableFuture<Trial> measure(Candidate candidate) {
    CompletableFuture<Trial> promise = new CompletableFuture<>();
    pending.add(new Pending(candidate, promise));
    if (pending.size() >= size) {
      flush();
    } else if (pending.size() == 1) {
      CompletableFuture.delayedExecutor(MOMENT_MILLIS, TimeUnit.MILLISECONDS).execute(this::flush);
    }
    return promise;
  }

  @Override
  public int width() {
    return UNDER_WAY * size;
  }

  private synchronized void flush() {
    while (!closed
        && !pending.isEmpty()
        && (underWay == 0 || (underWay < UNDER_WAY && pending.size() >= size))) {
      List<Pending> part = pending.subList(0, Math.min(size, pending.size()));
      List<CompletableFuture<Trial>> promises = new ArrayList<>();
      List<Candidate> candidates = new ArrayList<>();
      for (Pending each : part) {
        promises.add(each.promise());
        candidates.add(each.candidate());
      }
      part.clear();
      FleetBatch batch =
          new FleetBatch(
              IDS.incrementAndGet(),
              workload.text(),
              free,
              kind.environment().target(),
              kind.sms(),
              false,
              candidates.stream().map(candidate -> candidate.point().text()).toList());
      underWay++;
      fleet.start(
          new FleetDesk.Work(
              batch,
              kind.environment(),
              candidates,
              (index, trial) -> promises.get(index).complete(trial)),
          this::ended);
    }
  }

  private synchronized void ended() {
    underWay--;
    flush();
  }

  @Override
  public synchronized void close() {
    closed = true;
  }
}
