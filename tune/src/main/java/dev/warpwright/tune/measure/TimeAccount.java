package dev.warpwright.tune.measure;

/** Adds up where the time of a measurer goes. Called by many threads. */
final class TimeAccount {
  private static final double NANO = 1e-9;

  private long since = System.nanoTime();
  private int wanted;
  private int running;
  private long busy;
  private long waiting;
  private long idle;
  private long compiling;
  private int compiled;
  private double data;
  private double verifying;
  private double timing;

  /** A candidate's outcome is wanted from now on, or no longer. */
  synchronized void want(int more) {
    pass();
    wanted += more;
  }

  /** A device's process is busy from now on, or no longer. */
  synchronized void run(int more) {
    pass();
    running += more;
  }

  synchronized void add(Phases phases) {
    data += phases.data();
    verifying += phases.verifying();
    timing += phases.timing();
  }

  synchronized void compiled(long nanos) {
    compiling += nanos;
    compiled++;
  }

  private void pass() {
    long now = System.nanoTime();
    if (running > 0) {
      busy += now - since;
    } else if (wanted > 0) {
      waiting += now - since;
    } else {
      idle += now - since;
    }
    since = now;
  }

  /** Until now. Of several devices that are busy at once the times may not add up. */
  synchronized MeasuringTimes times() {
    pass();
    return new MeasuringTimes(
        timing,
        verifying,
        data,
        Math.max(0, busy * NANO - data - verifying - timing),
        waiting * NANO,
        idle * NANO,
        compiling * NANO,
        compiled);
  }
}
