package dev.warpwright.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * A task: candidates of one workload for devices of one kind. The executor makes the kernels from
 * their points.
 *
 * @param id the driver's number of it
 * @param workload the key as text
 * @param target what is compiled for
 * @param sms of the devices
 * @param compileOnly whether nothing is measured
 * @param points as text
 */
record FleetBatch(
    long id,
    String workload,
    boolean free,
    String target,
    int sms,
    boolean compileOnly,
    List<String> points)
    implements Serializable {
  FleetBatch {
    // Of a class that every Java serialises by itself.
    points = new ArrayList<>(points);
  }

  FleetBatch compiling(boolean only) {
    return new FleetBatch(id, workload, free, target, sms, only, points);
  }
}
