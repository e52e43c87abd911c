package dev.warpwright.cli.tuning;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.json.Json;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.tune.measure.MeasuringTimes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The GPUs on which winners are measured, each as soon as it has no search left. */
final class Winners implements AutoCloseable {
  /** Waits until a GPU, by its number, has no search left. */
  @FunctionalInterface
  interface Wait {
    void until(int device) throws InterruptedException;
  }

  /**
   * Where the time of a device went while a file of workloads was tuned.
   *
   * @param device what users know it by
   * @param searches as long as there were searches; empty where that is not kept
   * @param winners seconds in which winners were measured beside their baselines
   */
  record DeviceTimes(String device, Optional<MeasuringTimes> searches, double winners) {
    /** In one line. */
    String line() {
      return device
          + ": "
          + searches
              .map(
                  times ->
                      String.format(
                          Locale.ROOT,
                          "%.1f s of searches (timing %.1f, verifying %.1f, data and references %.1f,"
                              + " loading %.1f, waiting for compilers %.1f, idle %.1f; %d kernels"
                              + " compiled in %.0f s of all compilers), ",
                          times.all(),
                          times.timing(),
                          times.verifying(),
                          times.data(),
                          times.loading(),
                          times.waiting(),
                          times.idle(),
                          times.compiled(),
                          times.compiling()))
              .orElse("")
          + String.format(Locale.ROOT, "%.1f s of winners beside their baselines", winners);
    }

    Json json() {
      Json.Members json = Json.object().with("device", device).with("winnersSeconds", winners);
      if (searches.isEmpty()) {
        return json;
      }
      MeasuringTimes times = searches.get();
      return json.with("searchSeconds", times.all())
          .with("timingSeconds", times.timing())
          .with("verifyingSeconds", times.verifying())
          .with("dataSeconds", times.data())
          .with("loadingSeconds", times.loading())
          .with("waitingSeconds", times.waiting())
          .with("idleSeconds", times.idle())
          .with("compilingSeconds", times.compiling())
          .with("compiled", times.compiled());
    }
  }

  private final Wait wait;
  private final List<Place> places = new ArrayList<>();

  Winners(TuningDevice here, Wait wait) {
    this.wait = wait;
    for (TuningDevice device : here.each()) {
      places.add(new Place(places.size(), device));
    }
  }

  List<Place> places() {
    return places;
  }

  /** One GPU, used by one thread at a time. */
  final class Place {
    private final int number;
    private final TuningDevice device;
    private @Nullable Gpu held;
    private double seconds;

    private Place(int number, TuningDevice device) {
      this.number = number;
      this.device = device;
    }

    TuningDevice device() {
      return device;
    }

    void await() throws InterruptedException {
      wait.until(number);
    }

    /**
     * Measures there, and keeps its context from one winner to the next: to make one takes as long
     * as to measure some kernels.
     */
    PerfAction.Bench timed(PerfAction.Bench bench) {
      return (kernel, rounds, baselineKernels, where, progress) -> {
        long start = System.nanoTime();
        if (held == null && !device.ids().isEmpty()) {
          held = device.open();
        }
        try {
          return bench.of(kernel, rounds, baselineKernels, where, progress);
        } catch (CandidateFailure e) {
          if (e.poisoned()) {
            // Nothing works in this context any more.
            release();
          }
          throw e;
        } finally {
          seconds += (System.nanoTime() - start) * 1e-9;
        }
      };
    }

    private void release() {
      Gpu closing = held;
      held = null;
      if (closing != null) {
        try {
          closing.close();
        } catch (DeviceError e) {
          // A kernel's fault, of which whoever ran it has told.
        }
      }
    }
  }

  /**
   * Where the time of the GPUs went. What one measurer measured on several is told once.
   *
   * @param searches of each measurer; the GPU of number n is that of measurer n modulo their count
   */
  List<DeviceTimes> times(List<Optional<MeasuringTimes>> searches) {
    List<DeviceTimes> times = new ArrayList<>();
    for (int m = 0; m < searches.size(); m++) {
      List<String> names = new ArrayList<>();
      double seconds = 0;
      for (int place = m; place < places.size(); place += searches.size()) {
        TuningDevice device = places.get(place).device;
        names.add(device.ids().isEmpty() ? device.name() : device.ids().getFirst());
        seconds += places.get(place).seconds;
      }
      times.add(new DeviceTimes(String.join(", ", names), searches.get(m), seconds));
    }
    return times;
  }

  @Override
  public void close() {
    places.forEach(Place::release);
  }
}
