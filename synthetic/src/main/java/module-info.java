import org.jspecify.annotations.NullMarked;

/**
 * Networks with random weights, and with random errors: to measure, to search and to verify; what
 * any should compute.
 */
@NullMarked
module dev.warpwright.synthetic {
  requires static org.jspecify;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.workload;
  requires transitive dev.warpwright.sim;
  requires transitive dev.warpwright.graph;
  requires transitive dev.warpwright.model;

  exports dev.warpwright.synthetic to
      dev.warpwright.cli,
      dev.warpwright.export,
      dev.warpwright.profiler,
      dev.warpwright.verify;
}
