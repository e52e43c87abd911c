/**
 * Tuning on a fleet through Apache Spark. Spark starts executors, gives them GPUs, replaces those
 * that die and carries tasks; which device measures what, and which host is left alone, is decided
 * by {@link dev.warpwright.spark.FleetDesk} in the driver, where the searches and the database are.
 */
@NullMarked
package dev.warpwright.spark;

import org.jspecify.annotations.NullMarked;
