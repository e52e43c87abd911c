package dev.warpwright.parallel.cost;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What tuning many shapes on many GPUs takes, on paper: a bound for each part that all trials pass,
 * of which the slowest decides.
 *
 * @param trialsPerSecond what the slowest part lets through
 * @param limits of each part by name, in trials a second
 * @param trials in all
 * @param databaseBytes of the records
 * @param gpuHours for which GPUs are held
 */
public record FleetCost(
    double trialsPerSecond,
    Map<String, Double> limits,
    double trials,
    double databaseBytes,
    double gpuHours) {
  /**
   * What is assumed.
   *
   * @param gpus that measure
   * @param shapes to be tuned
   * @param trials of each
   * @param batch candidates of a task
   * @param measureSeconds of a GPU for a candidate: to verify and to time it
   * @param anchorSeconds of a GPU for the anchor kernel of a task
   * @param compileSeconds of a core for a candidate
   * @param cores that compile, for each GPU
   * @param taskSeconds of the scheduler's one thread for a task
   * @param proposeSeconds of a driver's core for a candidate
   * @param driverCores of the driver
   * @param recordSeconds of the database for a record; records are written one after the other
   * @param recordBytes in the database, with its index
   */
  public record Assumptions(
      double gpus,
      double shapes,
      double trials,
      double batch,
      double measureSeconds,
      double anchorSeconds,
      double compileSeconds,
      double cores,
      double taskSeconds,
      double proposeSeconds,
      double driverCores,
      double recordSeconds,
      double recordBytes) {}

  public FleetCost {
    limits = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(limits));
  }

  /** What follows of assumptions, all of which are positive. */
  public static FleetCost of(Assumptions a) {
    Map<String, Double> limits = new LinkedHashMap<>();
    limits.put("GPUs", a.gpus() / (a.measureSeconds() + a.anchorSeconds() / a.batch()));
    limits.put("compilers", a.gpus() * a.cores() / a.compileSeconds());
    limits.put("scheduler", a.batch() / a.taskSeconds());
    limits.put("search", a.driverCores() / a.proposeSeconds());
    limits.put("database", 1 / a.recordSeconds());
    double rate = limits.values().stream().mapToDouble(Double::doubleValue).min().orElseThrow();
    double trials = a.shapes() * a.trials();
    return new FleetCost(
        rate, limits, trials, trials * a.recordBytes(), a.gpus() * trials / rate / 3600);
  }

  /** The part that decides. */
  public String bottleneck() {
    return limits.entrySet().stream()
        .min(Map.Entry.comparingByValue())
        .map(Map.Entry::getKey)
        .orElseThrow();
  }

  /** Hours from the first trial to the last. */
  public double hours() {
    return trials / trialsPerSecond / 3600;
  }
}
