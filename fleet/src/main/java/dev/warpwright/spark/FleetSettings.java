package dev.warpwright.spark;

import dev.warpwright.base.UserError;
import org.apache.spark.SparkConf;

/**
 * Settings of Warpwright among Spark's.
 *
 * @param batch candidates of a task
 * @param silence seconds after which an executor that has begun a task and says nothing is given up
 * @param strikes tasks that a host may spoil before it is left alone
 * @param drift part by which an anchor kernel may be slower than the fastest time of its device
 * @param patience seconds that work waits for a device when there is none
 * @param quiet seconds between two looks at a device's anchor kernel
 */
record FleetSettings(
    int batch, double silence, int strikes, double drift, double patience, double quiet) {
  static final String HOST = "spark.warpwright.host";
  private static final String BATCH = "spark.warpwright.batch";
  private static final String SILENCE = "spark.warpwright.silence";
  private static final String STRIKES = "spark.warpwright.strikes";
  private static final String DRIFT = "spark.warpwright.drift";
  private static final String PATIENCE = "spark.warpwright.patience";
  private static final String QUIET = "spark.warpwright.anchor.seconds";

  static FleetSettings of(SparkConf conf) {
    return new FleetSettings(
        (int) number(conf, BATCH, 8, 1, 1024),
        // A worker starts, an anchor and a candidate are compiled and measured.
        number(conf, SILENCE, 420, 0.1, 86_400),
        (int) number(conf, STRIKES, 3, 1, 1_000_000),
        number(conf, DRIFT, 0.10, 0.001, 100),
        number(conf, PATIENCE, 600, 0.1, 86_400),
        number(conf, QUIET, 30, 0, 86_400));
  }

  private static double number(
      SparkConf conf, String name, double otherwise, double least, double most) {
    String text = conf.get(name, Double.toString(otherwise));
    double value;
    try {
      value = Double.parseDouble(text);
    } catch (NumberFormatException e) {
      value = Double.NaN;
    }
    if (!(value >= least && value <= most)) {
      throw new UserError(name + "=" + text + ": it is a number from " + least + " to " + most);
    }
    return value;
  }
}
