package dev.warpwright.spark;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.Environment;
import dev.warpwright.tune.measure.ProcessMeasurer;
import dev.warpwright.workload.WorkloadKey;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/**
 * What an executor does on its machine. The class is named by the setting {@link
 * FleetSettings#HOST} and has a constructor without parameters.
 */
public interface FleetHost {
  /** A device of an executor. */
  record Device(Environment environment, int sms) {}

  /**
   * The name of the machine, by which the driver counts its failures.
   *
   * @param executor Spark's name of the executor
   * @param host Spark's name of the machine
   */
  default String name(String executor, String host) {
    return host;
  }

  /**
   * Environment variables of a worker process that is to see the device at an address and no other
   * one.
   *
   * @param address as Spark's resource {@code gpu} names it; empty if the executor has none
   * @return empty if there is no device for it
   */
  Optional<Map<String, String>> environment(Optional<String> address);

  /**
   * The device.
   *
   * @param environment of the worker process
   * @throws IOException if there is none after all
   */
  Device device(Map<String, String> environment) throws IOException, InterruptedException;

  /**
   * The candidate of a point.
   *
   * @throws IllegalArgumentException if the point leads to none
   */
  Candidate candidate(WorkloadKey workload, boolean free, Device device, Point point);

  /** A kernel that is known to be right, whose time tells whether a device is as it was. */
  Candidate anchor(Device device);

  /**
   * How candidates are measured.
   *
   * @param target what is compiled for
   * @param environment of the process that measures
   */
  ProcessMeasurer.Setup setup(String target, int compilers, Map<String, String> environment);
}
