package dev.warpwright.tune.measure;

/**
 * Where the time of a measurer went. The first six add up to its life, the compilers work beside
 * it.
 *
 * @param timing seconds in which candidates ran for their times
 * @param verifying seconds in which results were compared with references
 * @param data seconds in which inputs and references of workloads were made
 * @param loading other seconds of devices' processes: their start, reading, loading and capturing
 *     kernels
 * @param waiting seconds in which candidates were wanted and all of them were with compilers
 * @param idle seconds in which nothing was wanted
 * @param compiling seconds of all compilers together
 * @param compiled how many kernels were given to compilers
 */
public record MeasuringTimes(
    double timing,
    double verifying,
    double data,
    double loading,
    double waiting,
    double idle,
    double compiling,
    int compiled) {
  /** {@return seconds of wall time} */
  public double all() {
    return timing + verifying + data + loading + waiting + idle;
  }
}
